"""Spack's recipe of tare: `spack dev-build tare@main` in a source distribution."""

from spack.package import depends_on, license, variant, version
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Tare(CMakePackage):
    """Measures MPI programs, and weighs itself: profiles, traces and samples of any MPI."""

    license("BSD-3-Clause")
    version("main")

    variant("monitor", default=True, description="Monitor programs while they run")
    variant("otf2", default=True, description="Read and write OTF2 archives")
    variant("perfetto", default=True, description="Write traces for Perfetto")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("py-nanobind@2.2:", type="build")
    depends_on("py-shtab@1.13:", type="build")
    depends_on("py-argparse-manpage@4.6:", type="build")
    depends_on("python@3.11:", type=("build", "link", "run"))
    depends_on("py-msgspec@0.19:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type="run")
    depends_on("zstd libs=shared,static")
    depends_on("elfutils")
    depends_on("libzmq", when="+monitor")
    depends_on("cppzmq", when="+monitor")
    depends_on("otf2", when="+otf2")
    depends_on("protozero", when="+perfetto")

    def cmake_args(self) -> list[str]:
        """What is not asked for is not taken from the machine either."""
        absent = {"monitor": "TARE_ZMQ", "otf2": "TARE_OTF2", "perfetto": "TARE_PROTOZERO_INCLUDE"}
        return [
            self.define("Python_EXECUTABLE", self.spec["python"].command.path),
            *(
                self.define(name, False)
                for variant, name in absent.items()
                if not self.spec.satisfies(f"+{variant}")
            ),
        ]

    def setup_run_environment(self, env) -> None:  # type: ignore[no-untyped-def]
        """Python programs that measure themselves import tare."""
        python = f"python{self.spec['python'].version.up_to(2)}"
        env.prepend_path("PYTHONPATH", self.prefix.lib.join(python).join("site-packages"))
