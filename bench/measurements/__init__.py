"""One file a measurement. Each is called with the number of rounds."""
