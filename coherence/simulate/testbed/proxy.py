"""Describes what a module of a real proxy offers to the testbed, and the ports that it is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from coherence.simulate.testbed.set_up import SetUp


@dataclass(frozen=True)
class Ports:
    """Ports of loopback: of the first proxy, of the back end, of its control, and of the proxies after the first."""

    proxy: int
    backend: int
    control: int
    hops: tuple[int, ...] = ()


class Proxy(Protocol):
    """Is a module of `proxies`: NAME, BINARY, INSTALL (how to get the binary) and four pure functions.

    `lacks` yields (key of the call, what the proxy cannot do, remedy), `files` gives file name -> text, `command` and
    `checker` the command lines, run in the folder of the files, that start it and that check its files.
    """

    NAME: str
    BINARY: str
    INSTALL: str

    def lacks(self, setup: SetUp) -> Iterator[tuple[str, str, str]]: ...

    def files(self, setup: SetUp, ports: Ports) -> dict[str, str]: ...

    def command(self, path: str) -> list[str]: ...

    def checker(self, path: str) -> list[str]: ...
