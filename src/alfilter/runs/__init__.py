"""Fitting a signal: a request, resolved; the one way to fit; the run folder."""

from alfilter.runs.fitting import Fitted, fit_task
from alfilter.runs.folder import RunFolder
from alfilter.runs.request import FitRequest, resolve
from alfilter.runs.run import run

__all__ = ["FitRequest", "Fitted", "RunFolder", "fit_task", "resolve", "run"]
