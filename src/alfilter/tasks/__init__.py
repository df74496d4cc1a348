"""What is optimised: a task sees a field as a callable and never names a method."""

from alfilter.tasks.base import Task
from alfilter.tasks.grid import GridTask
from alfilter.tasks.media import AudioTask, ImageTask, LightFieldTask, VideoTask, VolumeTask
from alfilter.tasks.open import TASKS, open_task
from alfilter.tasks.points import PointTask
from alfilter.tasks.sdf import SdfTask

__all__ = [
    "TASKS",
    "AudioTask",
    "GridTask",
    "ImageTask",
    "LightFieldTask",
    "PointTask",
    "SdfTask",
    "Task",
    "VideoTask",
    "VolumeTask",
    "open_task",
]
