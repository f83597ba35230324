"""Which variables of the environment a run keeps."""

from __future__ import annotations

from tare.runs.environment import kept


def test_only_what_says_how_an_mpi_program_ran_is_kept() -> None:
    names = {
        "OMPI_MCA_btl", "PMIX_RANK", "PRTE_MCA_x", "MPICH_OFI", "I_MPI_DEBUG", "FI_PROVIDER", "UCX_TLS",
        "HYDRA_HOST_FILE", "SLURM_JOB_ID", "OMP_NUM_THREADS", "GOMP_CPU_AFFINITY", "KMP_AFFINITY",
        "TARE_TRACE", "PATH", "LD_LIBRARY_PATH", "LD_PRELOAD",
    }  # fmt: skip
    others = {
        "HOME": "/home/me", "PATHS": "x", "XPATH": "x", "OMP": "1", "DB_PASSWORD": "x", "MAIL": "x",
        "SSH_CLIENT": "x",
    }  # fmt: skip
    assert kept({name: "1" for name in names} | others) == {name: "1" for name in sorted(names)}


def test_secrets_are_left_out_whatever_they_begin_with() -> None:
    secrets = (
        "SLURM_JWT", "SLURM_AUTH_TOKEN", "I_MPI_API_KEY", "FI_PASSWORD", "TARE_SECRET", "PMIX_SECURITY_KEY",
        "OMPI_MCA_orte_precondition_transports", "PBS_MOM_COOKIE", "MY_TOKEN",
    )  # fmt: skip
    assert kept(dict.fromkeys(secrets, "x"), ["*"]) == {}
    # Asked for by its whole name, it is meant.
    assert kept(dict.fromkeys(secrets, "x"), ["MY_*", "MY_TOKEN"]) == {"MY_TOKEN": "x"}


def test_more_is_kept_on_request_but_no_passwords_of_addresses() -> None:
    variables = {"MKL_NUM_THREADS": "4", "MKL_DEBUG": "1", "HOME": "/", "UCX_URL": "http://me:pass@host:80/x"}
    assert kept(variables, ["MKL_NUM*"]) == {
        "MKL_NUM_THREADS": "4",
        "UCX_URL": "http://me:<hidden>@host:80/x",
    }
