"""From a field and a task to a trained field on disk."""

from alfilter.training.loop import NotFinite, Progress, Result, clock, density_of, fit
from alfilter.training.modelfile import load, save

__all__ = ["NotFinite", "Progress", "Result", "clock", "density_of", "fit", "load", "save"]
