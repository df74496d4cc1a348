"""From coordinates to features: one idea a file, all with the interface of `Encoding`."""

from alfilter.encodings.adaptive_blocks import AdaptiveBlocks
from alfilter.encodings.base import Encoding, Situation
from alfilter.encodings.filtered_fourier import AlphaGrid, FilteredFourier
from alfilter.encodings.fourier import Fourier, Identity, RandomFourier
from alfilter.encodings.hash_grid import HashGrid
from alfilter.encodings.octree import Octree
from alfilter.encodings.sample_table import SampleTable

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
