"""The figures of runs and studies as PNG bytes."""
