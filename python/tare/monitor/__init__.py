"""A run as it goes on: what `tare top` shows."""
