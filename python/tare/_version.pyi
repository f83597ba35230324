"""A module that the build writes."""

__version__: str  # of CMakeLists.txt
WITHOUT: frozenset[str]  # optional libraries that were not there (cmake/TareDependencies.cmake)
