"""The model of a run: its directory, meta.json, and what its files hold."""
