"""What a trained field learned: maps of α and of what the filter lets pass."""

from alfilter.analysis.alpha import alpha_map, filtered_encoding_of, response_maps

__all__ = ["alpha_map", "filtered_encoding_of", "response_maps"]
