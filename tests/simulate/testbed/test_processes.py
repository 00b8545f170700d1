"""Nothing that the testbed starts outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coherence.simulate.testbed.processes import (
    ProcessFailedError,
    ProcessGroup,
    StoppedError,
    _dies_with_us,
    free_ports,
    listening,
)
from tests.paths import ROOT
from tests.simulate.testbed.testbed_helpers import DESIGN, LINUX, children_in, installed, within

SETPRIV = pytest.mark.skipif(not _dies_with_us(), reason="without setpriv nothing can end what SIGKILL orphans")
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def stubborn(folder: Path) -> None:
    with ProcessGroup(folder) as processes:
        processes.start("stubborn", [sys.executable, "-c", STUBBORN])
        processes.until(lambda: processes.output("stubborn") == "up", "it")
        assert children_in(folder) == list(processes.ids().values())
        raise ZeroDivisionError


@LINUX
def test_a_process_that_does_not_listen_is_killed_after_an_exception(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        stubborn(tmp_path)
    assert not children_in(tmp_path)


@LINUX
def test_children_of_a_process_end_with_it(tmp_path: Path) -> None:
    with ProcessGroup(tmp_path) as processes:
        processes.start("shell", ["/bin/sh", "-c", "sleep 60 & sleep 60 & echo up; wait"])
        processes.until(lambda: processes.output("shell") == "up", "it")
        assert len(children_in(tmp_path)) == 3
    assert any(not children_in(tmp_path) for _ in within(2))


def signalled(folder: Path, number: signal.Signals) -> None:
    with ProcessGroup(folder) as processes:
        processes.start("sleeper", [sys.executable, "-c", "import time; time.sleep(60)"])
        os.kill(os.getpid(), number)
        time.sleep(5)


@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything_and_our_handlers_come_back(number: signal.Signals, tmp_path: Path) -> None:
    before = signal.getsignal(number)
    with pytest.raises(StoppedError, match=number.name):
        signalled(tmp_path, number)
    assert not children_in(tmp_path)
    assert signal.getsignal(number) is before


def failing(folder: Path) -> None:
    with ProcessGroup(folder) as processes:
        processes.start("one", [sys.executable, "-c", "import sys; print('no such thing'); sys.exit(3)"])
        processes.until(lambda: False, "it")


def test_a_process_that_fails_is_reported_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(ProcessFailedError, match="exit code 3: no such thing"):
        failing(tmp_path)


def test_of_what_a_process_wrote_the_end_alone_is_read(tmp_path: Path) -> None:
    with (tmp_path / "chatty.log").open("wb") as log:
        log.truncate(1 << 40)  # a terabyte, without a block on the disk
        log.seek(0, os.SEEK_END)
        log.write(b"the end\n")
    assert ProcessGroup(tmp_path).output("chatty").strip("\0") == "the end"


def test_ports_are_free_and_differ() -> None:
    ports = free_ports(8)
    assert len(set(ports)) == 8
    assert not any(map(listening, ports))


UNPREDICTED = """
import sys
from coherence.__main__ import main
from coherence.simulate.testbed import predict
predict.predict = lambda made, timing: None  # it would come first, and take its time to compile
main(sys.argv[1:])
"""


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize(
    ("proxy", "number"),
    [
        ("nginx", signal.SIGINT),
        ("haproxy", signal.SIGINT),
        ("envoy", signal.SIGINT),
        ("nginx", signal.SIGTERM),
        pytest.param("envoy", signal.SIGKILL, marks=SETPRIV),
    ],
)
def test_an_interrupt_in_the_middle_leaves_nothing_behind(proxy: str, number: signal.Signals, tmp_path: Path) -> None:
    installed(proxy)
    folder, scratch = tmp_path / "files", tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "design.yaml").write_text(DESIGN)
    words = ["reproduce", "design.yaml", "--with", proxy, "--for", "30s", "--into", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)}
    command = [sys.executable, "-c", UNPREDICTED, *words]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as started:
        try:
            waiting = (started.poll() is None and len(children_in(folder)) == 3 for _ in within(30))
            assert any(waiting), "no back end, proxy and load"
            started.send_signal(number)
            _, output = started.communicate(timeout=20)
        finally:
            started.kill()
    assert any(not children_in(folder) for _ in within(5))
    if number != signal.SIGKILL:
        assert (started.returncode, output.strip()) == (130, "stopped")
        assert not list(scratch.iterdir())
