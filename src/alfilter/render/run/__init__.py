"""A fitted field shown, one module per kind of signal."""
