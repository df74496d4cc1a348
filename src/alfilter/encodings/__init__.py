"""From coordinates to features: one idea a file, all with the interface of `Encoding`."""

from alfilter.encodings.adaptive import AlphaGrid, FilteredFourier
from alfilter.encodings.base import Encoding
from alfilter.encodings.fourier import Fourier, Identity, RandomFourier

__all__ = ["AlphaGrid", "Encoding", "FilteredFourier", "Fourier", "Identity", "RandomFourier"]
