"""From coordinates to features: one idea per file, all with the interface of `Encoding`."""

from alfilter.encodings.adaptive_blocks import AdaptiveBlocks
from alfilter.encodings.alpha_grid import AlphaGrid
from alfilter.encodings.base import Encoding, Situation
from alfilter.encodings.filtered import FilteredEncoding
from alfilter.encodings.filtered_fourier import FilteredFourier
from alfilter.encodings.filtered_grid import FilteredGrid
from alfilter.encodings.fourier import Fourier, Identity, RandomFourier
from alfilter.encodings.hash_grid import HashGrid
from alfilter.encodings.octree import Octree
from alfilter.encodings.placement import Placement
from alfilter.encodings.sample_table import SampleTable

__all__ = [
    "AdaptiveBlocks",
    "AlphaGrid",
    "Encoding",
    "FilteredEncoding",
    "FilteredFourier",
    "FilteredGrid",
    "Fourier",
    "HashGrid",
    "Identity",
    "Octree",
    "Placement",
    "RandomFourier",
    "SampleTable",
    "Situation",
]
