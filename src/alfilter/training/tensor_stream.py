"""The safetensors format, written straight from the tensors' own memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import BinaryIO

import torch
from torch import Tensor

DTYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
    torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip


def write_stream(file: BinaryIO, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors and metadata: the header's length as 8 bytes, the header as JSON, the tensors one after the other.

    The library's own `save` holds two more copies of all tensors; `save_file` holds none, but leaves a temporary file
    of its own behind when it is killed.

    >>> import io
    >>> from safetensors.torch import load
    >>> stream = io.BytesIO()
    >>> write_stream(stream, {"a": torch.arange(3.0)}, {"by": "hand"})
    >>> load(stream.getvalue())
    {'a': tensor([0., 1., 2.])}
    """
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0]))  # so that each is aligned
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    end = 0
    for name, tensor in ordered:
        start, end = end, end + tensor.numel() * tensor.element_size()
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little"))
    file.write(text)
    for _, tensor in ordered:
        numbers = tensor.detach().cpu().contiguous().reshape(-1)
        file.write(numbers.view(torch.uint8).numpy().data)
