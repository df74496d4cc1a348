"""From coordinates to features: one idea a file, all with the interface of `Encoding`."""

from alfilter.encodings.adaptive import AlphaGrid, FilteredFourier
from alfilter.encodings.base import Encoding
from alfilter.encodings.fourier import Fourier, Identity, RandomFourier
from alfilter.encodings.hashgrid import HashGrid
from alfilter.encodings.table import SampleTable

__all__ = [
    "AlphaGrid",
    "Encoding",
    "FilteredFourier",
    "Fourier",
    "HashGrid",
    "Identity",
    "RandomFourier",
    "SampleTable",
]
