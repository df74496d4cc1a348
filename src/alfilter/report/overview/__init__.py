"""One self-contained HTML page about many runs, and their tables."""
