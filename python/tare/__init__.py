"""tare measures MPI programs and weighs itself."""

__version__ = "0.1.0"
