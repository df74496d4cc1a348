"""Looking inside a trained field: a local page for pictures and what belongs to it."""
