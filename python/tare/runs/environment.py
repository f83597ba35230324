"""Which variables of the environment a result keeps: those that say how MPI programs ran, and no secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

# Open MPI and PRRTE, MPICH and its derivatives, their networks; launchers and batch systems; OpenMP; tare.
PREFIXES = (
    "OMPI_", "PMIX_", "PRTE_", "MPICH_", "I_MPI_", "MV2_", "MVP_", "FI_", "UCX_", "PSM2_", "PMI_",
    "HYDRA_", "SLURM_", "PALS_", "PBS_", "LSB_", "FLUX_",
    "OMP_", "GOMP_", "KMP_",
    "TARE_",
    "LD_",
)  # fmt: skip
NAMES = ("PATH",)
# Names of what lets somebody in; of Open MPI, also the key that its processes share.
_SECRET = re.compile(
    r"SECRET|TOKEN|JWT|KEY|PASS|CREDENTIAL|PRIVATE|AUTH|COOKIE|SIGNATURE|SESSION_ID|(^|_)PW($|_)"
    r"|PRECONDITION_TRANSPORTS",
    re.IGNORECASE,
)
_URL_PASSWORD = re.compile(r"(://[^/@\s:]*):[^/@\s]+@")
HIDDEN = "<hidden>"


def kept(variables: Mapping[str, str], wanted: Iterable[str] = ()) -> dict[str, str]:
    """The variables, with those that a pattern in `wanted` matches: a secret only by its whole name."""
    patterns = list(wanted)
    return {
        name: _URL_PASSWORD.sub(rf"\1:{HIDDEN}@", value)
        for name, value in sorted(variables.items())
        if name in patterns or (_is_kept(name, patterns) and not _SECRET.search(name))
    }


def _is_kept(name: str, patterns: Iterable[str]) -> bool:
    return (
        name.startswith(PREFIXES) or name in NAMES or any(fnmatchcase(name, pattern) for pattern in patterns)
    )
