"""Carrying out the runs of a study: on this machine or a Ray cluster, each result written once."""
