"""A small writer of ONNX graphs: operations by name, numbers as constants."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from alfilter.errors import need

Entry = str | float | int | Tensor | NDArray[Any]  # what an operation takes: the name of a result, or numbers

OPSET = 18  # the first with bitwise operations on integers, which the spatial hash needs
_IR = 8  # the file format that came with it: readable by every runtime since 2023


class Graph:
    """The operations of one graph in order: `op` appends one and returns its result's name, and repeats none."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._known: dict[tuple[Any, ...], str] = {}

    def op(self, kind: str, *inputs: Entry, **attributes: Any) -> str:
        """Append an operation of the standard set; Python numbers are float32 and int64, as torch takes them."""
        names = [entry if isinstance(entry, str) else self.constant(entry) for entry in inputs]
        key = kind, *names, *sorted(attributes.items())
        if key in self._known:
            return self._known[key]
        name = self._known[key] = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(need("onnx.helper", "onnx").make_node(kind, names, [name], **attributes))
        return name

    def constant(self, value: float | int | Tensor | NDArray[Any]) -> str:
        """The name of a constant; equal ones are stored once."""
        array = value.detach().cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        array = np.asarray(array, order="C")
        key = array.dtype.str, array.shape, sha256(array.tobytes()).digest()
        if key not in self._known:
            self._known[key] = f"constant_{len(self.constants)}"
            self.constants.append(need("onnx.numpy_helper", "onnx").from_array(array, self._known[key]))
        return self._known[key]

    def exact(self, value: NDArray[np.float64]) -> str:
        """The name of a constant of 64 bits."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(need("onnx.numpy_helper", "onnx").from_array(np.asarray(value, np.float64), name))
        return name

    def cast(self, x: str, wide: bool) -> str:
        """The same numbers in 64 or in 32 bits."""
        kinds = need("onnx", "onnx").TensorProto
        return self.op("Cast", x, to=int(kinds.DOUBLE if wide else kinds.FLOAT))

    def join(self, *parts: str) -> str:
        """Features side by side."""
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=-1)

    def columns(self, x: str, *which: int) -> str:
        """Some of the last axis' entries."""
        return self.op("Gather", x, np.array(which, np.int64), axis=-1)

    def unsqueeze(self, x: str, axis: int) -> str:
        return self.op("Unsqueeze", x, np.array([axis], np.int64))

    def fold(self, kind: str, parts: list[str]) -> str:
        """One result of several by an operation of two: runtimes disagree on reductions of no points at all."""
        result = parts[0]
        for part in parts[1:]:
            result = self.op(kind, result, part)
        return result

    def affine(self, x: str, weight: Tensor, bias: Tensor) -> str:
        """W x + b. x: (n, C), weight: (w, C) → (n, w)."""
        return self.op("Gemm", x, weight, bias, transB=1)

    def model(
        self,
        dims: int,
        outputs: dict[str, tuple[str, list[Any]]],
        facts: dict[str, str],
        about: str,
        wide: frozenset[str] = frozenset(),
    ) -> Any:
        """The finished model: from `points` (n, dims) to the named results, each with its shape.

        facts: the file's metadata. about: what a reader of the file should know first. wide: what of them has 64 bits.
        """
        helper, kinds = need("onnx.helper", "onnx"), need("onnx", "onnx").TensorProto
        named = [helper.make_node("Identity", [result], [name]) for name, (result, _) in outputs.items()]
        bits = {name: kinds.DOUBLE if name in wide else kinds.FLOAT for name in ("points", *outputs)}
        inputs = [helper.make_tensor_value_info("points", bits["points"], ["n", dims])]
        results = [helper.make_tensor_value_info(name, bits[name], shape) for name, (_, shape) in outputs.items()]
        graph = helper.make_graph([*self.nodes, *named], "field", inputs, results, self.constants)
        sets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=sets, ir_version=_IR, producer_name="alfilter", doc_string=about)
        helper.set_model_props(model, facts)
        return model
