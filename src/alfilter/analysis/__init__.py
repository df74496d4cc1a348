"""What a field is and what it learned: maps of α, the tangent kernel, its spectrum, the paper's kernel view."""

from alfilter.analysis.alpha import alpha_map, filtered_encoding_of, pass_band, response_maps
from alfilter.analysis.facts import KernelFacts, kernel_facts, retention_by_range
from alfilter.analysis.ntk import empirical_ntk, line_points, random_points, simple_ntk

__all__ = [
    "KernelFacts",
    "alpha_map",
    "empirical_ntk",
    "filtered_encoding_of",
    "kernel_facts",
    "line_points",
    "pass_band",
    "random_points",
    "response_maps",
    "retention_by_range",
    "simple_ntk",
]
