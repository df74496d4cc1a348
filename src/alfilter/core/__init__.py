"""Equations, the paper's and those of the other methods, as pure functions on tensors: no modules, files or state."""

from alfilter.core.filter import band_response, scale_response, stable_sigmoid
from alfilter.core.fourier import (
    channel_scales,
    dyadic_encoding,
    dyadic_rates,
    encoded_dim,
    filtered_encoding,
    random_features,
    scale_sets,
)
from alfilter.core.grid import interpolate, total_variation
from alfilter.core.layers import affine, affine_relu, affine_sine, perceptron

__all__ = [
    "affine",
    "affine_relu",
    "affine_sine",
    "band_response",
    "channel_scales",
    "dyadic_encoding",
    "dyadic_rates",
    "encoded_dim",
    "filtered_encoding",
    "interpolate",
    "perceptron",
    "random_features",
    "scale_response",
    "scale_sets",
    "stable_sigmoid",
    "total_variation",
]
