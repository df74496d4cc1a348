"""From features to values: networks that know nothing of the encoding before them."""

from alfilter.networks.activations import ACTIVATIONS, Activation
from alfilter.networks.base import Network
from alfilter.networks.filterbank import FilterBank
from alfilter.networks.levels import LevelDecoder
from alfilter.networks.mlp import MLP

__all__ = ["ACTIVATIONS", "MLP", "Activation", "FilterBank", "LevelDecoder", "Network"]
