"""From a field and a task to a trained field on disk."""

from alfilter.training.loop import NotFinite, Progress, Result, clock, fit
from alfilter.training.modelfile import load, save

__all__ = ["NotFinite", "Progress", "Result", "clock", "fit", "load", "save"]
