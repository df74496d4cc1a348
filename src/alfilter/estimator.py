"""The scikit-learn estimator: `ALFilterRegressor` fits a neural field to (X, y) and follows scikit-learn's conventions.

Needs the extra `sklearn`. Pickling a fitted estimator is scikit-learn's way of keeping it and is the user's choice; the
package itself never reads a pickle (`alfilter.save(estimator.field_, path)` writes a model file without one).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from alfilter.config import Training, configure
from alfilter.errors import UserError
from alfilter.methods import build
from alfilter.runs import fit_task
from alfilter.signals import PointSignal
from alfilter.tasks.points import PointTask, predict

if TYPE_CHECKING:

    class RegressorMixin:  # scikit-learn ships no types
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...

    class MultiOutputMixin: ...

    check_is_fitted: Any
    check_random_state: Any
    validate_data: Any
    _check_sample_weight: Any
else:
    try:
        from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
        from sklearn.utils import check_random_state
        from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
    except ImportError:
        raise UserError(
            "ALFilterRegressor needs scikit-learn; install the extra with pip install 'alfilter[sklearn]'"
        ) from None

_WORDS = {"steps": "max_iter", "lr": "learning_rate", "batch": "batch_size"}  # settings by scikit-learn's names
_GRIDDED = 4  # features up to which a grid has nodes; above, they would outnumber any data


class ALFilterRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A field with a local frequency filter through scattered points: the fit of `alfilter fit TABLE`, on arrays.

    Up to four features al-grid, a small network on the levels of a learned grid; above, al-sine. A parameter that is
    None follows the command: what the method's preset says for that many points and dimensions. Features are brought to
    [-1, 1] and targets to [0, 1] by their extremes in the training data. With more than four features α is one learned
    number, since a grid's nodes grow as grid^d, and nothing is filled in between the points. Beyond the box of the
    training data the field is evaluated at the box's nearest place.

    Parameters
    ----------
    max_iter : int
        Optimiser steps. A few smooth over noise, many follow every point.
    method : str
        None: al-grid up to four features, al-sine above.
    preset : str
        None: `reconstruct`, which goes through the points; `noisy` for measurements with noise (al-grid), whose
        standard deviations s, if they are known, are given to `fit` as `sample_weight` 1/s².
    levels, bandwidth, kappa : L, B and κ of the filtered encoding.
    omega : float
        Of al-sine: ω0 of the sine layers; higher resolves finer structure and needs denser samples.
    gain : float
        Of al-sine: scale of the first weights on γ'; small leaves most to the coordinates themselves.
    grid : int
        Nodes of the α grid per axis.
    width, depth : int
        Of the network.
    learning_rate, batch_size, weight_decay : of the training.
    tv : float
        Weight of the mean total variation of the α grid.
    fill : float
        Weight of values that are made between the points.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    field_ : the fitted `alfilter.Field`, a torch module over [-1, 1]^d; `alfilter.save` keeps it.
    facts_ : bounds and names, as a model file of scattered points holds them.
    n_iter_ : steps done. n_features_in_, feature_names_in_ : as scikit-learn defines them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 3, 40)[:, None]
    >>> model = ALFilterRegressor(max_iter=150, random_state=0).fit(X, np.sin(2 * X[:, 0]))
    >>> bool(model.score(X, np.sin(2 * X[:, 0])) > 0.99)
    True
    """

    def __init__(
        self,
        max_iter: int | None = None,
        method: str | None = None,
        preset: str | None = None,
        levels: int | None = None,
        bandwidth: float | None = None,
        kappa: float | None = None,
        omega: float | None = None,
        gain: float | None = None,
        grid: int | None = None,
        width: int | None = None,
        depth: int | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        weight_decay: float | None = None,
        tv: float | None = None,
        fill: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.max_iter = max_iter
        self.method = method
        self.preset = preset
        self.levels = levels
        self.bandwidth = bandwidth
        self.kappa = kappa
        self.omega = omega
        self.gain = gain
        self.grid = grid
        self.width = width
        self.depth = depth
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.tv = tv
        self.fill = fill
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ALFilterRegressor:
        """Fit to X (n, d) and y (n,) or (n, c), each sample with its weight if one is given."""
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        if weights is not None and (weights < 0).any():
            raise ValueError("sample_weight must not be negative")
        self.single_ = y.ndim == 1
        counted = np.ones(len(X), bool) if weights is None else weights > 0  # weight 0 is as if it were not there
        signal = PointSignal(X[counted], y.reshape(len(y), -1)[counted], None if weights is None else weights[counted])
        task = PointTask(signal)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        name = self.method or ("al-grid" if signal.in_dim <= _GRIDDED else "al-sine")
        fitted = fit_task(
            task, name, preset=self.preset, options=self._options(signal), training=self._training(signal), seed=seed
        )
        self.field_, self.facts_, self.n_iter_ = fitted.field, task.describe(), fitted.result.steps
        return self

    def predict(self, X: Any) -> Any:
        """Values (n,) or (n, c), shaped as y was."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        values, _ = predict(self.field_, self.facts_, X)
        return values[:, 0] if self.single_ else values

    def outside(self, X: Any) -> Any:
        """Which samples (n,) lie outside the fitted region, see `alfilter predict`."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return predict(self.field_, self.facts_, X)[1]

    def _options(self, signal: PointSignal) -> dict[str, Any]:
        options = self._named("levels", "bandwidth", "kappa", "omega", "gain", "width", "depth", "grid")
        return {**options, "grid": 1} if signal.in_dim > _GRIDDED else options

    def _training(self, signal: PointSignal) -> dict[str, Any]:
        settings = {ours: value for ours, word in _WORDS.items() if (value := getattr(self, word)) is not None}
        settings |= self._named("weight_decay", "tv", "fill")
        if self.tv is not None:
            settings["tv_reduction"] = "mean"
        if signal.in_dim > _GRIDDED:
            settings["fill"] = 0.0
        try:
            configure(Training, settings, "ALFilterRegressor")
        except UserError as error:
            line = str(error)
            for ours, word in _WORDS.items():
                line = line.replace(f"option {ours!r}", f"option {word!r}")
            raise UserError(line) from None
        return settings

    def _named(self, *names: str) -> dict[str, Any]:
        """The parameters of these names that were given."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def __getstate__(self) -> dict[str, Any]:
        """As scikit-learn's, with the field as how to build it and its numbers."""
        state = dict(super().__getstate__())
        field = state.pop("field_", None)
        if field is not None:
            numbers = {name: value.detach().cpu().numpy() for name, value in field.state_dict().items()}
            state["field_"] = {"spec": field.spec, "signal": field.signal, "numbers": numbers}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        stored = state.pop("field_", None)
        super().__setstate__(state)
        if stored is not None:
            spec = stored["spec"]
            sizes: dict[str, Any] = {"in_dim": spec["in_dim"], "out_dim": spec["out_dim"], "samples": spec["samples"]}
            field = build(spec["method"], **sizes, **spec["options"])
            field.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in stored["numbers"].items()})
            field.signal = stored["signal"]
            self.field_ = field.eval()
