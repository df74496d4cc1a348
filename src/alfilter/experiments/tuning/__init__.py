"""Searches for the settings of every method, by one rule."""
