"""Comparisons of methods beyond the paper."""
