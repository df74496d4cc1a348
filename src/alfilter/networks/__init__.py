"""From features to values: networks that know nothing of the encoding before them."""

from alfilter.networks.base import Network
from alfilter.networks.filter_bank import FilterBank
from alfilter.networks.level_decoder import LevelDecoder
from alfilter.networks.mfn import MFN, Bacon
from alfilter.networks.mlp import ACTIVATIONS, MLP
from alfilter.networks.polynomial import PolyINR
from alfilter.networks.wavelet import ComplexWavelet

__all__ = [
    "ACTIVATIONS",
    "MFN",
    "MLP",
    "Bacon",
    "ComplexWavelet",
    "FilterBank",
    "LevelDecoder",
    "Network",
    "PolyINR",
]
