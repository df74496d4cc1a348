"""Campaigns: many small trials that look for what breaks; each prints its seed and what it counted."""
