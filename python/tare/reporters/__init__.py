"""One file an output: terminal, JSON, CSV."""
