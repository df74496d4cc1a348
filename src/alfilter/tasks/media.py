"""Fitting sound, volumes and video: grids of one and three dimensions, with the scores that are usual for them."""

from __future__ import annotations

from torch import Tensor

from alfilter.evaluate import Evaluate, Scores
from alfilter.metrics.audio import snr
from alfilter.tasks.grid import GridTask


class AudioTask(GridTask):
    """Fitting a sound: beside PSNR, which is relative to the range from -peak to peak, the signal-to-noise ratio."""

    def measures(self, prediction: Tensor, target: Tensor) -> dict[str, float]:
        return {**super().measures(prediction, target), "snr": snr(prediction, target, silence=0.5)}


class VolumeTask(GridTask):
    """Fitting a volume or a video, scored slab by slab: neither is ever held as float numbers as a whole."""

    def evaluate(self, field: Evaluate) -> Scores:
        return self.evaluate_in_bands(field)
