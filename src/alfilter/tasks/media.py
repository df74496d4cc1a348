"""Fitting sound, volumes, video and light fields: grids of one, three and four dimensions with their usual scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from alfilter.evaluate import Evaluate, Scores
from alfilter.metrics.audio import snr
from alfilter.signals.arrays import audio_signal, lightfield_signal, video_signal, volume_signal
from alfilter.tasks.grid import GridTask, open_grid


class AudioTask(GridTask):
    """Fitting a sound: beside PSNR, which is relative to the range from -peak to peak, the signal-to-noise ratio."""

    @classmethod
    def from_file(cls, path: str | Path, observe: str = "all", seed: int = 0) -> AudioTask:
        """The task of a WAV file."""
        return cls(open_grid(path, "audio"), observe, seed)

    @classmethod
    def from_array(cls, values: Any, rate: int, observe: str = "all", seed: int = 0) -> AudioTask:
        """The task of a sound (n,) or (n, c) of numpy or torch. rate: samples per second."""
        return cls(audio_signal(values, rate), observe, seed)

    def measures(self, prediction: Tensor, target: Tensor) -> dict[str, float]:
        return {**super().measures(prediction, target), "snr": snr(prediction, target, silence=0.5)}


class VolumeTask(GridTask):
    """Fitting a volume or a video, scored slab by slab: neither is ever held as float numbers as a whole."""

    @classmethod
    def from_file(cls, path: str | Path, observe: str = "all", seed: int = 0) -> VolumeTask:
        """The task of a NIfTI file, or of a .npy file with three axes."""
        return cls(open_grid(path, "volume"), observe, seed)

    @classmethod
    def from_array(cls, values: Any, observe: str = "all", seed: int = 0) -> VolumeTask:
        """The task of a volume (D, H, W) or (D, H, W, c) of numpy or torch."""
        return cls(volume_signal(values), observe, seed)

    def evaluate(self, field: Evaluate) -> Scores:
        return self.evaluate_in_bands(field)


class VideoTask(VolumeTask):
    """Fitting a video."""

    @classmethod
    def from_file(cls, path: str | Path, observe: str = "all", seed: int = 0) -> VideoTask:
        """The task of a clip, a GIF, or a folder of frames."""
        return cls(open_grid(path, "video"), observe, seed)

    @classmethod
    def from_array(cls, values: Any, observe: str = "all", seed: int = 0, *, rate: float = 25.0) -> VideoTask:
        """The task of frames (T, H, W) or (T, H, W, c) of numpy or torch. rate: frames per second."""
        return cls(video_signal(values, rate), observe, seed)


class LightFieldTask(VolumeTask):
    """Fitting a light field: pictures of one scene from a grid of views."""

    @classmethod
    def from_file(cls, path: str | Path, observe: str = "all", seed: int = 0) -> LightFieldTask:
        """The task of an .npz or .npy file of five axes, or of a folder of views."""
        return cls(open_grid(path, "lightfield"), observe, seed)

    @classmethod
    def from_array(cls, values: Any, observe: str = "all", seed: int = 0) -> LightFieldTask:
        """The task of views (u, v, y, x, c) of numpy or torch.

        >>> import numpy as np
        >>> LightFieldTask.from_array(np.zeros((3, 3, 4, 6, 1)), observe="views:every:2").observation()
        (96, 216)
        """
        return cls(lightfield_signal(values), observe, seed)
