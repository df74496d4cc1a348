"""Values between samples, made before a fit from the samples alone: on grids and at scattered points."""
