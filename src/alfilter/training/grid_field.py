"""Which fields have a compiled step: a lookup on grids, a perceptron on it, and a loss that is a power of the error."""

from __future__ import annotations

from torch import Tensor

from alfilter.methods import Field
from alfilter.ops.grid_mlp import GridField, GridGradient
from alfilter.tasks.base import Task


def grid_field(field: Field) -> GridField | None:
    """The field as `ops.grid_mlp` knows it, over the same numbers; None if it is something else or has no kernel.

    All of its parameters are learned there, and nothing else.
    """
    features, network = field.encoding.grid_features(), field.network.perceptrons()
    if features is None or network is None:
        return None
    compiled = GridField(features, network, field.shift, field.scale)
    learned = {p.data_ptr() for p in field.parameters() if p.requires_grad}
    complete = len(list(field.parameters())) == len(learned) and learned == {t.data_ptr() for t in compiled.tensors()}
    return compiled if complete and compiled.has_kernel() else None


def has_compiled_step(field: Field, task: Task) -> bool:
    """Whether a worker's share of a step can be one compiled call."""
    return task.residual_loss() is not None and grid_field(field) is not None


def compiled_steps(field: Field, task: Task, params: Tensor, sums: Tensor) -> list[GridGradient]:
    """Every worker's compiled step. params: all parameters in one buffer, (total,). sums: (workers, total)."""
    compiled, loss = grid_field(field), task.residual_loss()
    assert compiled is not None
    assert loss is not None
    return [GridGradient(compiled, loss, params, total) for total in sums]
