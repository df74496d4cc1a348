"""Fitting pictures, sound, volumes, video and light fields: grids of one to four dimensions with their usual scores."""

from __future__ import annotations

from typing import Any, Self

from torch import Tensor

from alfilter.evaluate import Evaluate, Scores
from alfilter.metrics.audio import snr
from alfilter.signals.arrays import audio_signal, image_signal, lightfield_signal, video_signal, volume_signal
from alfilter.tasks.grid import GridTask


class ImageTask(GridTask):
    """Fitting a picture. Made from a file or a `sample:NAME`, an array, or a signal."""

    kind = "image"

    @classmethod
    def from_array(cls, values: Any, observe: str = "all", seed: int = 0) -> Self:
        """The task of a picture (H, W) or (H, W, c) of numpy, torch or Pillow, of any numeric type.

        uint8 and uint16 run from 0 to their largest; other numbers from 0 to 1 where they lie within, else over their
        own range.

        >>> import numpy as np
        >>> ImageTask.from_array(np.zeros((8, 6, 3))).samples
        (8, 6)
        """
        return cls(image_signal(values), observe, seed)


class AudioTask(GridTask):
    """Fitting a sound (of a WAV file): beside PSNR, which is relative to the range from -peak to peak, the
    signal-to-noise ratio.
    """

    kind = "audio"

    @classmethod
    def from_array(cls, values: Any, rate: int, observe: str = "all", seed: int = 0) -> Self:
        """The task of a sound (n,) or (n, c) of numpy or torch. rate: samples per second."""
        return cls(audio_signal(values, rate), observe, seed)

    def measures(self, prediction: Tensor, target: Tensor) -> dict[str, float]:
        return {**super().measures(prediction, target), "snr": snr(prediction, target, silence=0.5)}


class _StreamedTask(GridTask):
    """Scored slab by slab: the signal is never held as floating-point numbers as a whole."""

    def evaluate(self, field: Evaluate) -> Scores:
        return self.evaluate_in_bands(field)


class VolumeTask(_StreamedTask):
    """Fitting a volume, of a NIfTI file or of a .npy file with three axes."""

    kind = "volume"

    @classmethod
    def from_array(cls, values: Any, observe: str = "all", seed: int = 0) -> Self:
        """The task of a volume (D, H, W) or (D, H, W, c) of numpy or torch."""
        return cls(volume_signal(values), observe, seed)


class VideoTask(_StreamedTask):
    """Fitting a video, of a clip, a GIF, or a folder of frames."""

    kind = "video"

    @classmethod
    def from_array(cls, values: Any, observe: str = "all", seed: int = 0, *, rate: float = 25.0) -> Self:
        """The task of frames (T, H, W) or (T, H, W, c) of numpy or torch. rate: frames per second."""
        return cls(video_signal(values, rate), observe, seed)


class LightFieldTask(_StreamedTask):
    """Fitting a light field: pictures of one scene from a grid of views, of an .npz or .npy file of five axes, or of a
    folder of views.
    """

    kind = "lightfield"

    @classmethod
    def from_array(cls, values: Any, observe: str = "all", seed: int = 0) -> Self:
        """The task of views (u, v, y, x, c) of numpy or torch.

        >>> import numpy as np
        >>> LightFieldTask.from_array(np.zeros((3, 3, 4, 6, 1)), observe="views:every:2").observation()
        (96, 216)
        """
        return cls(lightfield_signal(values), observe, seed)
