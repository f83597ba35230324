"""`tare watch` on jobs: a real Prometheus scrapes it, and a command is started for what goes wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT, compile_c, openmpi4
from measured import PROGRAMS, WITH_API
from patience import wait_until
from run_processes import tared_of
from test_monitor import PATIENCE_S, RANKS, live, running

DASHBOARD = ROOT / "examples" / "grafana-dashboard.json"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("monitored") / "monitored"
    return compile_c(openmpi4(), [PROGRAMS / "monitored.c"], built, *WITH_API)


@contextmanager
def watching(tare: Path, run: Path, *options: Path | str) -> Iterator[subprocess.Popen[str]]:
    watch = subprocess.Popen(
        [tare, "watch", run, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield watch
    finally:
        watch.kill()
        watch.communicate()


def get(url: str, **headers: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=PATIENCE_S) as answer:
        found: str = answer.read().decode()
    return found


def metric(url: str, name: str) -> float:
    (value,) = [line.split()[1] for line in get(url).splitlines() if line.startswith(f"{name} ")]
    return float(value)


class Prometheus:
    """A server that scrapes one endpoint, five times a second."""

    def __init__(self, folder: Path, url: str) -> None:
        folder.mkdir()
        target = urllib.parse.urlsplit(url).netloc
        (folder / "prometheus.yml").write_text(
            "scrape_configs:\n- job_name: tare\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n"
            f"  static_configs:\n  - targets: ['{target}']\n"
        )
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._log = (folder / "log").open("w")
        self._process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{port}"],
            stdout=self._log, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def ask(self, query: str) -> list[dict[str, Any]]:
        """The samples that an instant query has; none while it does not answer."""
        try:
            found = json.loads(get(f"{self.url}/api/v1/query?{urllib.parse.urlencode({'query': query})}"))
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.SERVICE_UNAVAILABLE:  # it starts
                return []
            raise AssertionError(f"{query}: {error.read().decode()}") from error
        except OSError:
            return []
        assert found["status"] == "success" and found["data"]["resultType"] == "vector", query
        samples: list[dict[str, Any]] = found["data"]["result"]
        return samples

    def has(self, query: str) -> bool:
        return self.ask(query) != []

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._log.close()


def queries() -> list[str]:
    """Those of the dashboard, as Grafana would send them."""
    dashboard = json.loads(DASHBOARD.read_text())
    found = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(found) >= 12
    return [each.replace("$__rate_interval", "10s").replace("$instance", ".*") for each in found]


def test_prometheus_scrapes_a_run_and_the_dashboard_has_data(
    program: Path, tare: Path, tmp_path: Path
) -> None:
    assert shutil.which("prometheus"), "prometheus is not installed (tools/packages/test.txt)"
    run, end = tmp_path / "run", tmp_path / "end"
    with running(tare, openmpi4(), run, [program, "uneven", "20000", end], "--monitor=50ms") as job:
        wait_until(lambda: len(live(run)) > 2)
        with watching(tare, run, "--prometheus", "0") as watch:
            assert watch.stdout is not None
            url = watch.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:") and url.endswith("/metrics")
            told = get(url, Accept="application/openmetrics-text; version=1.0.0")
            assert told.endswith("# EOF\n")
            for line in told.splitlines():
                if line.startswith("# TYPE"):
                    assert f"# HELP {line.split()[2]} " in told
            server = Prometheus(tmp_path / "prometheus", url)
            try:
                wait_until(lambda: server.has("up == 1"))
                (ranks,) = server.ask("tare_ranks")
                assert ranks["value"][1] == str(RANKS)
                for query in queries():
                    wait_until(partial(server.has, query))
                # The others wait for rank 1.
                unbalanced = (
                    'rate(tare_event_most_seconds_total{event="MPI_Allreduce"}[10s])'
                    ' / rate(tare_event_seconds_total{event="MPI_Allreduce"}[10s]) > 1.2'
                )
                wait_until(lambda: server.has(unbalanced))
                (slow,) = server.ask('tare_event_least_rank{event="MPI_Allreduce"}')
                assert slow["value"][1] == "1"
                (counter,) = server.ask("tare_counter_value")
                assert counter["metric"]["counter"] == "residual" and float(counter["value"][1]) > 0
                with pytest.raises(urllib.error.HTTPError) as refused:
                    get(url, Host="somewhere.example")
                assert refused.value.code == 403
            finally:
                server.close()
            end.touch()
            assert job.wait(PATIENCE_S) == 0
            assert watch.wait(PATIENCE_S) == 0, "it ends with the run"


def test_it_ends_by_an_interrupt_and_a_port_that_is_taken_is_told(
    program: Path, tare: Path, tmp_path: Path
) -> None:
    run, end = tmp_path / "run", tmp_path / "end"
    with running(tare, openmpi4(), run, [program, "calls", "1000", end], "--monitor=50ms"):
        wait_until(lambda: len(live(run)) > 0)
        with watching(tare, run, "--prometheus", "0") as watch:
            assert watch.stdout is not None
            port = urllib.parse.urlsplit(watch.stdout.readline().strip()).port
            again = subprocess.run(
                [tare, "watch", run, "--prometheus", str(port)], capture_output=True, text=True, timeout=60
            )
            assert again.returncode == 1
            assert again.stderr.startswith(f"tare: cannot listen at 127.0.0.1:{port}")
            watch.send_signal(signal.SIGINT)
            assert watch.wait(PATIENCE_S) == 0


class Recorder:
    """A command that keeps what it is given."""

    def __init__(self, folder: Path) -> None:
        self._kept = folder / "alerts"
        self._kept.mkdir()
        self.command = folder / "notify"
        # A name that is there is whole.
        self.command.write_text(
            f'#!/bin/sh\ncat >"{self._kept}/$$.part"\nenv | grep ^TARE_ALERT >"{self._kept}/$$.env"\n'
            f'mv "{self._kept}/$$.part" "{self._kept}/$$.json"\n'
        )
        self.command.chmod(0o755)

    def alerts(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in self._kept.glob("*.json")]

    def variables(self) -> dict[str, str]:
        (path,) = self._kept.glob("*.env")
        return dict(line.split("=", 1) for line in path.read_text().splitlines())


@pytest.mark.parametrize(("mode", "ranks"), [("hang", "1"), ("deadlock", "0-2")])
def test_a_rank_that_hangs_is_told_of_once(
    mode: str, ranks: str, program: Path, tare: Path, tmp_path: Path
) -> None:
    run, recorder = tmp_path / "run", Recorder(tmp_path)
    with running(tare, openmpi4(), run, [program, mode, "5"], "--monitor=points,policy=nonblock"):
        wait_until(lambda: len(live(run)) > 0)
        with watching(tare, run, "--alert", "hang:2s", "--", recorder.command) as watch:
            wait_until(lambda: len(recorder.alerts()) > 0)
            assert watch.stdout is not None
            line = watch.stdout.readline()
    (alert,) = recorder.alerts()
    assert alert["schema"] == "tare.alert/1" and alert["run"] == str(run)
    assert (alert["alert"], alert["condition"], alert["ranks"]) == ("hang", "hang:2s", ranks)
    assert alert["threshold"] == 2 and alert["event"] is None
    expected = "outside MPI" if mode == "hang" else "deadlock"
    assert expected in alert["message"] and alert["message"] in line
    variables = recorder.variables()
    assert variables["TARE_ALERT"] == "hang" and variables["TARE_ALERT_RANKS"] == ranks
    assert variables["TARE_ALERT_MESSAGE"] == alert["message"] and variables["TARE_ALERT_RUN"] == str(run)


def test_an_imbalance_is_told_of_once(program: Path, tare: Path, tmp_path: Path) -> None:
    run, end, recorder = tmp_path / "run", tmp_path / "end", Recorder(tmp_path)
    with running(tare, openmpi4(), run, [program, "uneven", "20000", end], "--monitor=50ms") as job:
        wait_until(lambda: len(live(run)) > 20)
        condition = "imbalance:20%,event=MPI_Allreduce"
        with watching(
            tare, run, "--alert", condition, "--alert", "loss:99%", "--", recorder.command
        ) as watch:
            wait_until(lambda: len(recorder.alerts()) > 0)
            seen = len(live(run))
            wait_until(lambda: len(live(run)) > seen + 40)  # some polls later
            end.touch()
            assert job.wait(PATIENCE_S) == 0
            assert watch.wait(PATIENCE_S) == 0
    (alert,) = recorder.alerts()
    assert (alert["alert"], alert["event"]) == ("imbalance", "MPI_Allreduce")
    assert 0.2 < alert["value"] <= 2 and alert["threshold"] == 0.2
    assert alert["ranks"] in ("0", "2") and "rank 1 has had least" in alert["message"]


def test_a_loss_is_told_of(program: Path, tare: Path, tmp_path: Path) -> None:
    """tared is stopped until then, so what has no room is lost."""
    run, end, recorder = tmp_path / "run", tmp_path / "end", Recorder(tmp_path)
    with running(tare, openmpi4(), run, [program, "calls", "100", end], "--monitor=1ms,policy=lossy") as job:
        wait_until(lambda: len(live(run)) > 3)
        options = ("--alert", "loss:5%", "--prometheus", "0", "--json", "--", recorder.command)
        with watching(tare, run, *options) as watch:
            assert watch.stdout is not None and watch.stderr is not None
            url = watch.stderr.readline().strip()
            stopped = tared_of(run)
            os.kill(stopped, signal.SIGSTOP)
            wait_until(lambda: len(recorder.alerts()) > 0)
            # No round comes; what ranks lose now, their accounts alone have.
            rounds, lost = metric(url, "tare_rounds_total"), metric(url, "tare_snapshots_lost_total")
            wait_until(lambda: metric(url, "tare_snapshots_lost_total") > lost)
            assert metric(url, "tare_rounds_total") == rounds
            os.kill(stopped, signal.SIGCONT)
            assert json.loads(watch.stdout.readline())["alert"] == "loss"
            end.touch()
            assert job.wait(PATIENCE_S) == 0
    assert recorder.alerts()[0]["value"] > 0.05 == recorder.alerts()[0]["threshold"]


def test_a_run_that_has_ended_is_told_of(program: Path, tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with running(tare, openmpi4(), run, [program, "points", "5"], "--monitor=points") as job:
        assert job.wait(PATIENCE_S) == 0
    done = subprocess.run(
        [tare, "watch", run, "--alert", "hang"], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "has ended" in done.stderr and "--stay" in done.stderr


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((), "--alert"),
        (("--alert", "doom"), "'doom'"),
        (("--alert", "loss:5"), "'loss:5'"),
        (("--alert", "loss:5%,event=MPI_Send"), "event"),
        (("--alert", "hang:1ms"), "one second"),
        (("--prometheus", "here"), "'here'"),
        (("--prometheus", "1", "--", "true"), "--alert"),
        (("--alert", "hang", "--"), "COMMAND"),
    ],
)
def test_wrong_options_are_named(options: tuple[str, ...], named: str, tare: Path, tmp_path: Path) -> None:
    done = subprocess.run([tare, "watch", tmp_path, *options], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and named in done.stderr and len(done.stderr.splitlines()) == 1


def test_an_imbalance_that_no_round_tells_of_is_refused(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    subprocess.run(
        [tare, "run", "-q", "--monitor=1s,filter=groups", "-o", run, "--", "true"], check=True, timeout=60
    )
    done = subprocess.run(
        [tare, "watch", run, "--alert", "imbalance:30%"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert "filter statistics" in done.stderr and "groups" in done.stderr


def test_a_command_that_is_not_there_is_told_before_watching(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    subprocess.run([tare, "run", "-q", "--monitor", "-o", run, "--", "true"], check=True, timeout=60)
    done = subprocess.run(
        [tare, "watch", run, "--alert", "hang", "--", "./nowhere"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0 and "./nowhere" in done.stderr and len(done.stderr.splitlines()) == 1
