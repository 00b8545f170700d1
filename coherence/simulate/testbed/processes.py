"""Runs processes on loopback that are always stopped, each by its id: on success, failure, Ctrl-C, SIGTERM, SIGHUP.

Every process leads its own group (a terminal's Ctrl-C reaches only us, and its children end with it).  On
Linux `setpriv` additionally lets the kernel end it should we be killed with SIGKILL (it watches the thread that
started the process, which must therefore stay until the process is stopped).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

from coherence.base.errors import UsageError

LOOPBACK = "127.0.0.1"
PATIENCE = 15.0  # seconds until a process must answer
MOST_OUTPUT = 800  # bytes of the end of what a process wrote
GRACE = 2.0  # seconds between SIGTERM and SIGKILL
_STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class ProcessFailedError(UsageError):
    """A real process did not do what it must on this machine; the message ends with what it wrote."""


class StoppedError(KeyboardInterrupt):
    """We were told to stop by a signal."""


class ProcessGroup:
    """Started processes, stopped when the `with` block is left, whatever the reason.

        with Processes(folder) as processes:
            processes.start("proxy", ["/usr/sbin/nginx", "-p", "."])

    Output goes to `<folder>/<name>.log`.  `environment` replaces our own.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._handlers: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._held = False  # a signal waits until a start or the stopping is done
        self._told: str | None = None  # the signal that waits

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._handlers = {number: signal.signal(number, self._stopped) for number in _STOPPING}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        try:
            with self._undisturbed():
                self.stop()
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)

    def start(self, name: str, command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> int:
        """Start a command in the folder and return its process id."""
        with self._undisturbed(), (self.folder / f"{name}.log").open("ab") as log:  # never started and yet unknown
            self._running[name] = subprocess.Popen(  # noqa: S603  (the command is ours)
                [*_dies_with_us(), *command],
                cwd=self.folder,
                env=None if environment is None else dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self._running[name].pid

    def ids(self) -> dict[str, int]:
        """Name -> process id of everything that was started and not stopped."""
        return {name: process.pid for name, process in self._running.items()}

    def ended(self, name: str) -> bool:
        """Has the process ended well?  Raises ProcessFailedError if it failed."""
        code = self._running[name].poll()
        if code:
            raise ProcessFailedError(f"{name} ended with exit code {code}: {self.output(name)}")
        return code == 0

    def check(self) -> None:
        """Raises ProcessFailedError if a process has failed."""
        for name in self._running:
            self.ended(name)

    def wait(self, name: str, seconds: float, *, progress: Callable[[], object] = lambda: None) -> None:
        """Until the process has ended well.  Raises ProcessFailedError if it, or another, fails or takes longer."""
        limit = time.monotonic() + seconds
        while not self.ended(name):
            self.check()
            progress()
            if time.monotonic() > limit:
                raise ProcessFailedError(f"{name} did not end within {seconds:.0f} s: {self.output(name)}")
            time.sleep(0.1)

    def until(self, ready: Callable[[], bool], what: str, *, seconds: float = PATIENCE) -> None:
        """Until `ready()`.  Raises ProcessFailedError if a process fails first, or it takes longer."""
        limit = time.monotonic() + seconds
        while not ready():
            self.check()
            if time.monotonic() > limit:
                outputs = "; ".join(filter(None, map(self.output, self._running)))
                raise ProcessFailedError(f"{what} was not ready within {seconds:.0f} s: {outputs}")
            time.sleep(0.02)

    def output(self, name: str) -> str:
        """Returns the end of what a process wrote, which alone is read: some write for ever."""
        with contextlib.suppress(OSError), (self.folder / f"{name}.log").open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - MOST_OUTPUT))
            return log.read(MOST_OUTPUT).decode("utf-8", errors="replace").strip()
        return ""

    def stop(self, name: str | None = None) -> None:
        """Stop one process, or all: SIGTERM to its group, and SIGKILL where that is not enough."""
        chosen = list(self._running) if name is None else [name]
        for process in chosen:
            _signal(self._running[process], signal.SIGTERM)
        limit = time.monotonic() + GRACE
        for process in chosen:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._running[process].wait(max(0.0, limit - time.monotonic()))
            _signal(self._running[process], signal.SIGKILL)
            self._running[process].wait()
            del self._running[process]

    def _stopped(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._told = signal.Signals(number).name
        if not self._held:
            self._raise()

    def _raise(self) -> None:
        told, self._told = self._told, None
        if told is not None:
            raise StoppedError(told)

    @contextlib.contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """Signals wait until the block is done, so that no process is started and forgotten, or left half stopped.

        A blocked signal mask would do the same, and be inherited by what we start.
        """
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self._raise()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """To the whole group of a process: when its leader has ended, children of it may still be there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _dies_with_us() -> list[str]:
    found = shutil.which("setpriv") if sys.platform == "linux" else None
    return [found, "--pdeathsig", "KILL", "--"] if found else []


def free_ports(count: int) -> tuple[int, ...]:
    """Ports of loopback that nobody listens on now; all are held open until the last is found, so they differ."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for holder in sockets:
            holder.bind((LOOPBACK, 0))
        return tuple(holder.getsockname()[1] for holder in sockets)


def listening(port: int) -> bool:
    """Does anybody accept connections on this port of loopback?"""
    with socket.socket() as one:
        one.settimeout(1.0)
        return one.connect_ex((LOOPBACK, port)) == 0


def binary(name: str) -> str | None:
    """Returns the path of a program: on PATH, beside this interpreter (PyPI), or where Debian puts daemons."""
    places = [os.environ.get("PATH", ""), str(Path(sys.executable).parent), "/usr/sbin", "/usr/local/sbin"]
    return shutil.which(name, path=os.pathsep.join(places))


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yields a folder that is removed in the end, also when we are interrupted."""
    with tempfile.TemporaryDirectory(prefix="coherence-", ignore_cleanup_errors=True) as name:
        yield Path(name)
