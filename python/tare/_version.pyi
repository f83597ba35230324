"""The version of CMakeLists.txt: a module that the build writes."""

__version__: str
