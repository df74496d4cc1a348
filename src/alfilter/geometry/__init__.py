"""Shapes without learning: exact signed distance, repair, frames, isosurfaces. Numpy in, numpy out."""

from alfilter.geometry.distance import signed_distance, winding_number
from alfilter.geometry.frame import Frame
from alfilter.geometry.repair import Diagnosis, Triangles, repair_mesh

__all__ = ["Diagnosis", "Frame", "Triangles", "repair_mesh", "signed_distance", "winding_number"]
