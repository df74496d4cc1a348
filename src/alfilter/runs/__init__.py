"""A run: what was asked for, its folder, and the way from a signal to a fitted model."""

from alfilter.runs.run import History, Order, choose_device, read_lines, run

__all__ = ["History", "Order", "choose_device", "read_lines", "run"]
