"""What a field is and what it learned: maps of α, the tangent kernel, its spectrum, the paper's kernel view."""

from alfilter.analysis.frequency import (
    alpha_map,
    capped,
    cut_offs_at,
    filter_of,
    filtered_encoding_of,
    frequency_map,
    local_frequency,
    pass_band,
    response_maps,
    samples_across,
)
from alfilter.analysis.ntk import empirical_ntk, line_points, random_points, simple_ntk
from alfilter.analysis.ntk_facts import KernelFacts, kernel_facts, retention_by_range

__all__ = [
    "KernelFacts",
    "alpha_map",
    "capped",
    "cut_offs_at",
    "empirical_ntk",
    "filter_of",
    "filtered_encoding_of",
    "frequency_map",
    "kernel_facts",
    "line_points",
    "local_frequency",
    "pass_band",
    "random_points",
    "response_maps",
    "retention_by_range",
    "samples_across",
    "simple_ntk",
]
