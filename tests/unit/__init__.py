"""The command line, tested on a fake of the compiled reader."""
