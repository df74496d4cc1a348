"""Files that the safetensors library reads, whatever the tensors are."""

from __future__ import annotations

import io
import tracemalloc

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load, save

from alfilter.training.tensor_stream import DTYPES, write_stream


def stream_of(tensors, metadata=None):
    stream = io.BytesIO()
    write_stream(stream, tensors, metadata or {})
    return stream.getvalue()


def test_the_library_reads_every_type_and_shape(tmp_path):
    tensors = {
        "b odd": torch.tensor([True, False, True]),
        "alone": torch.tensor(2.5, dtype=torch.float64),
        "none": torch.zeros(0, 4),
        "turned": torch.arange(12.0).view(3, 4).t(),
        **{f"of {name}": torch.arange(5).to(dtype) for dtype, name in DTYPES.items()},
    }
    (tmp_path / "t").write_bytes(stream_of(tensors, {"who": "wir, ä"}))
    with safe_open(tmp_path / "t", framework="pt") as file:
        assert file.metadata() == {"who": "wir, ä"}
        assert set(file.keys()) == set(tensors)
        for name, tensor in tensors.items():
            stored = file.get_tensor(name)
            assert stored.dtype == tensor.dtype
            assert stored.shape == tensor.shape
            assert torch.equal(stored, tensor)


def test_same_tensors_same_bytes_in_any_order():
    a, b = torch.rand(3), torch.rand(2, 2)
    assert stream_of({"a": a, "b": b}) == stream_of({"b": b, "a": a})


def test_the_file_is_as_long_as_the_librarys_and_holds_the_same():
    tensors = {"w": torch.rand(3, 2), "n": torch.arange(4), "c": torch.tensor([1, 2], dtype=torch.uint8)}
    ours, theirs = stream_of(tensors, {"k": "v"}), save(tensors, metadata={"k": "v"})
    assert {k: v.tolist() for k, v in load(ours).items()} == {k: v.tolist() for k, v in load(theirs).items()}
    assert len(ours) == len(theirs)


def test_parameters_on_a_graph_are_written():
    weight = torch.nn.Parameter(torch.rand(2))
    assert torch.equal(load(stream_of({"w": weight}))["w"], weight.detach())


def test_no_copy_of_the_tensors_is_made(tmp_path):
    tensors = {"large": torch.zeros(1 << 22)}
    tracemalloc.start()
    with (tmp_path / "t").open("wb") as file:
        write_stream(file, tensors, {})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_type_without_a_name_is_refused():
    with pytest.raises(KeyError):
        stream_of({"z": torch.zeros(2, dtype=torch.complex64)})
