"""What works on this machine, proven by trying it."""
