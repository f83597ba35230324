"""Spack's recipe of msgspec, which Spack's own repository lacks."""

from spack.package import depends_on, license, version
from spack_repo.builtin.build_systems.python import PythonPackage


class PyMsgspec(PythonPackage):
    """Reads and writes JSON and MessagePack, and checks their types."""

    homepage = "https://jcristharif.com/msgspec/"
    pypi = "msgspec/msgspec-0.20.0.tar.gz"

    license("BSD-3-Clause")
    version("0.20.0", sha256="692349e588fde322875f8d3025ac01689fead5901e7fb18d6870a44519d62a29")
    version("0.19.0", sha256="604037e7cd475345848116e89c553aa9a233259733ab51986ac924ab1b976f8e")

    depends_on("c", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-setuptools@80:", when="@0.20:", type="build")
    depends_on("py-setuptools-scm@8:", when="@0.20:", type="build")
    depends_on("py-setuptools", when="@:0.19", type="build")
