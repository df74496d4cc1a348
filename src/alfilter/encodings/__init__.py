"""From coordinates to features: one idea a file, all with the interface of `Encoding`."""

from alfilter.encodings.adaptive import AlphaGrid, FilteredFourier
from alfilter.encodings.base import Encoding, Situation
from alfilter.encodings.blocks import AdaptiveBlocks
from alfilter.encodings.fourier import Fourier, Identity, RandomFourier
from alfilter.encodings.hashgrid import HashGrid
from alfilter.encodings.octree import Octree
from alfilter.encodings.table import SampleTable

__all__ = [
    "AdaptiveBlocks",
    "AlphaGrid",
    "Encoding",
    "FilteredFourier",
    "Fourier",
    "HashGrid",
    "Identity",
    "Octree",
    "RandomFourier",
    "SampleTable",
    "Situation",
]
