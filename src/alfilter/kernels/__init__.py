"""Compiled CPU code that `ops` call; README.md beside this file says how a kernel is written, cached and tested."""
