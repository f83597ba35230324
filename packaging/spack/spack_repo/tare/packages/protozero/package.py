"""Spack's recipe of protozero, which Spack's own repository lacks."""

from spack.package import depends_on, license, version
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Protozero(CMakePackage):
    """Headers that read and write messages of protocol buffers."""

    homepage = "https://github.com/mapbox/protozero"
    git = "https://github.com/mapbox/protozero.git"

    license("BSD-2-Clause")
    version("1.8.2", tag="v1.8.2", commit="af2f6e274e0a873a00e34d8c9ab99fca76898047")
    version("1.8.1", tag="v1.8.1", commit="89a55ad2962cca3adbe8383a4b6d9a8411352ef2")
    version("1.7.1", tag="v1.7.1", commit="f379578a3f7c8162aac0ac31c2696de09a5b5f93")

    depends_on("cxx", type="build")
    depends_on("cmake@3.10:", type="build")

    def cmake_args(self) -> list[str]:
        """Its tests are not built."""
        return [self.define("BUILD_TESTING", False)]
