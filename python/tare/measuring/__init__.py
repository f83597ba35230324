"""Measuring a command, from the preload library to the finished run directory."""
