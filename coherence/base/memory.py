"""Limits the memory of a process, so that what needs too much ends with an answer and not by the system's kill.

Where the system has no such limit (it is kept on Linux), nothing is limited.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator

LIMITED = sys.platform.startswith("linux")
NO_LIMIT = 1 << 60
SHARE = 0.9  # of what is free, for a run that is told no limit
GROUP = "/sys/fs/cgroup/memory"  # of this process, where it is in a container


def free_memory() -> int | None:
    """Returns the bytes that the machine, or the container, has left; None where the system does not say."""
    sizes = [size for size in (_available(), _left_of_group()) if size is not None]
    return min(sizes, default=None)


@contextlib.contextmanager
def memory_limit(most: int | None = None) -> Iterator[None]:
    """Lets the process take so many bytes in the block (default: nearly all that are free), beside what it holds.

    Beyond them a MemoryError arises.
    """
    if not LIMITED:
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    _restrict(room() if most is None else most)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


@functools.cache
def restrict(most: int) -> None:
    """Lets a worker take so many bytes from its first task on, where it is not restricted to fewer."""
    if LIMITED:
        _restrict(most)


def _restrict(most: int) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([_held() + most, *limits]), hard))


def room() -> int:
    """Returns the bytes that the process may still take: up to its limit, else nearly all that are free."""
    if LIMITED:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
        if soft != resource.RLIM_INFINITY:
            return max(0, soft - _held())
    free = free_memory()
    return NO_LIMIT if free is None else int(SHARE * free)


def _held() -> int:
    """Returns the bytes of data that the process has already."""
    return _line("/proc/self/status", "VmData:") or 0


def _available() -> int | None:
    return _line("/proc/meminfo", "MemAvailable:")


def _left_of_group() -> int | None:
    most, held = (_number(f"{GROUP}.{name}") for name in ("max", "current"))
    return None if most is None or held is None else max(0, most - held)


def _line(file: str, name: str) -> int | None:
    """Returns the size in a line `Name:  12 kB` of a file of the system."""
    try:
        with open(file, encoding="ascii", errors="replace") as lines:  # noqa: PTH123  (at each start)
            size = next((line.split()[1] for line in lines if line.startswith(name)), None)
    except OSError:
        return None
    return int(size) * 1024 if size is not None else None


def _number(file: str) -> int | None:
    try:
        with open(file, encoding="ascii") as text:  # noqa: PTH123
            return int(text.read())
    except (OSError, ValueError):  # none of this system, or `max`
        return None
