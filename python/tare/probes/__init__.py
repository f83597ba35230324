"""Sources of the programs that `tare doctor` runs."""
