"""A fitted sound shown: waveforms, spectrograms, the error and α over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from alfilter.analysis import filtered_encoding_of, frequency_map, response_maps
from alfilter.encodings import FilteredEncoding
from alfilter.evaluate import Scores
from alfilter.evaluate.streaming import excerpt, middle
from alfilter.files import write_bytes
from alfilter.methods import Field
from alfilter.report.figures import canvas
from alfilter.runs.folder import RunFolder
from alfilter.tasks import AudioTask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]
_COLUMNS = 1200  # places along the time axis of a figure
_DECIBELS = 90.0  # from the loudest to the faintest that a spectrogram shows


def draw_audio(folder: RunFolder, model: Field, task: AudioTask, scores: Scores) -> None:
    """The pictures of a fitted sound, of a long one those of its middle.

    scores: with the prediction and the target that were compared, where they were held whole.
    """
    drawn = excerpt(task.signal.shape)
    prediction, target = (
        scores.samples if scores.samples is not None else middle(model, task.signal, drawn.stop - drawn.start)
    )
    wave, fitted = (2 * values.double().numpy() - 1 for values in (target, prediction))  # in units of the peak
    rate = float(task.signal.facts["rate"])
    mask = task.seen_mask()
    seen = None if mask is None else mask.numpy()[drawn]
    write_bytes(folder.picture("waveform"), waveform_figure(wave, fitted, rate, seen))
    write_bytes(folder.picture("spectrogram"), spectrogram_figure(wave.mean(-1), fitted.mean(-1), rate))
    encoding = filtered_encoding_of(model)
    if encoding is not None:
        write_bytes(folder.picture("alpha"), alpha_curve(encoding, len(wave), rate))
        write_bytes(folder.picture("scales"), scale_strip(encoding, len(wave), rate))


def waveform_figure(wave: Array, fitted: Array, rate: float, seen: NDArray[np.bool_] | None = None) -> bytes:
    """Truth, fit and error (n, c) over time, the channels averaged; the error on a scale of its own.

    A column of the figure shows the lowest and the highest sample it stands for, so that no peak is lost. seen: which
    samples were; the error of the others is drawn over that of the seen ones.
    """
    figure = canvas.new_figure(8.4, 5.0)
    top, middle, below = figure.subplots(3, 1, sharex=True)
    truth, guess = wave.mean(-1), fitted.mean(-1)
    error = guess - truth
    for axes, values, name in ((top, truth, "truth"), (middle, guess, "fit")):
        _envelope(axes, values, rate, canvas.GREY if name == "truth" else canvas.BLUE)
        axes.set(ylim=(-1.05, 1.05), ylabel=f"{name}\nof the peak")
        canvas.plain_axes(axes)
    for mask, colour, label in _parts(seen):
        _envelope(below, np.where(mask, error, np.nan), rate, colour, label)
    if seen is not None:
        below.legend(frameon=False, fontsize=8, loc="upper right")
    reach = float(np.abs(error).max()) or 1.0
    below.set(ylim=(-1.05 * reach, 1.05 * reach), ylabel="error\nof the peak", xlabel="seconds")
    canvas.plain_axes(below)
    below.set_xlim(0, len(wave) / rate)
    return canvas.png_bytes(figure)


def spectrogram_figure(truth: Array, fitted: Array, rate: float) -> bytes:
    """Power over time and frequency of truth, fit and error (n,), in decibels below the truth's loudest."""
    power = [spectrogram(values) for values in (truth, fitted, fitted - truth)]
    loudest = max(float(power[0].max()), 1e-20)
    figure = canvas.new_figure(8.4, 6.2)
    panels = figure.subplots(3, 1, sharex=True)
    for axes, values, name in zip(panels, power, ("truth", "fit", "error"), strict=True):
        shown = 10 * np.log10(np.maximum(values / loudest, 10 ** (-_DECIBELS / 10)))
        extent = (0.0, len(truth) / rate, 0.0, rate / 2000)
        image = axes.imshow(
            shown.T, origin="lower", aspect="auto", extent=extent, cmap="magma", vmin=-_DECIBELS, vmax=0.0
        )
        axes.set(ylabel="kHz")
        axes.set_title(name, loc="left", fontsize=9)
    panels[-1].set(xlabel="seconds")
    figure.colorbar(image, ax=list(panels), fraction=0.03, label="dB below the loudest of the truth")
    return canvas.png_bytes(figure)


def spectrogram(values: Array, columns: int = 600) -> Array:
    """Power (times, frequencies) of overlapping Hann windows of a sound (n,): 1024 samples, or fewer where it is short.

    >>> tone = np.sin(2 * np.pi * 0.25 * np.arange(4096))
    >>> int(spectrogram(tone).mean(0).argmax()) / 1024
    0.25
    """
    size = min(1024, len(values))
    starts = np.linspace(0, len(values) - size, min(columns, 1 + 4 * (len(values) - size) // size)).astype(int)
    window = np.hanning(size + 2)[1:-1]
    pieces = np.stack([values[start : start + size] for start in starts])
    power: Array = np.abs(np.fft.rfft(pieces * window, axis=1)) ** 2
    return power


def alpha_curve(encoding: FilteredEncoding, count: int, rate: float) -> bytes:
    """The cut-off over time in Hz, on a logarithmic scale."""
    hertz = frequency_map(encoding, (min(count, _COLUMNS),)).numpy() * rate / max(1, count - 1)
    figure = canvas.new_figure(8.4, 2.8)
    axes = figure.add_subplot()
    axes.plot(np.linspace(0, (count - 1) / rate, len(hertz)), hertz, color=canvas.BLUE, linewidth=1)
    axes.axhline(rate / 2, color=canvas.GREY, linewidth=0.8, linestyle="--", label="half the sampling rate")
    axes.set(xlabel="seconds", ylabel="cut-off in Hz", xlim=(0, count / rate), yscale="log")
    axes.legend(frameon=False, fontsize=8)
    canvas.plain_axes(axes)
    return canvas.png_bytes(figure)


def scale_strip(encoding: FilteredEncoding, count: int, rate: float) -> bytes:
    """H̄_j(α(t)) of every scale over time, from 0 to 1."""
    maps = response_maps(encoding, (min(count, _COLUMNS),)).numpy()  # (L, n)
    figure = canvas.new_figure(8.4, 2.8)
    axes = figure.add_subplot()
    extent = (0.0, count / rate, -0.5, encoding.levels - 0.5)
    image = axes.imshow(maps, origin="lower", aspect="auto", extent=extent, cmap="viridis", vmin=0.0, vmax=1.0)
    hertz = encoding.level_frequencies().numpy() * rate / max(1, count - 1)
    axes.set_yticks(range(encoding.levels), [f"{each:.3g}" for each in hertz], fontsize=7)
    axes.set(xlabel="seconds", ylabel="Hz of the scale")
    figure.colorbar(image, ax=axes, fraction=0.04, label="share that passes")
    return canvas.png_bytes(figure)


def _parts(seen: NDArray[np.bool_] | None) -> list[tuple[Any, str, str | None]]:
    if seen is None:
        return [(True, canvas.RED, None)]
    return [(seen, canvas.BLUE, "seen"), (~seen, canvas.RED, "held out")]


def _envelope(axes: Axes, values: Array, rate: float, colour: str, label: str | None = None) -> None:
    """A curve of few samples, or the lowest and highest of every block of many."""
    step = -(-len(values) // _COLUMNS)
    if step == 1:
        axes.plot(np.arange(len(values)) / rate, values, color=colour, linewidth=0.8, label=label)
        return
    padded = np.pad(values, (0, -len(values) % step), constant_values=np.nan).reshape(-1, step)
    filled = np.isfinite(padded).any(1)
    low, high = (np.where(filled, f(np.where(np.isfinite(padded), padded, other), axis=1), np.nan)
                 for f, other in ((np.min, np.inf), (np.max, -np.inf)))  # fmt: skip
    seconds = (np.arange(len(padded)) + 0.5) * step / rate
    axes.fill_between(seconds, low, high, color=colour, linewidth=0.3, edgecolor=colour, label=label, alpha=0.8)
