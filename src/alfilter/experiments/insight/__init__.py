"""Studies of what a field has learned."""
