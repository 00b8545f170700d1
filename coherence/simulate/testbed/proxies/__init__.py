"""Real proxies, one module each, found by walking the package.

A module has NAME, BINARY, INSTALL (how to get the binary) and four pure functions: `lacks(set_up)` yields
(key of the call, what the proxy cannot do, remedy), `files(set_up, ports)` gives file name -> text, `command(path)`
and `checker(path)` the command lines, run in the folder of the files, that start it and that check its files.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from coherence.base.errors import InputError, InternalError, Problem, UsageError, did_you_mean
from coherence.simulate.testbed.set_up import SetUp


@dataclass(frozen=True)
class Ports:
    """Ports of loopback: of the proxy, of the back end, and of the back end's control."""

    proxy: int
    backend: int
    control: int


class Proxy(Protocol):
    """What a module of this package must offer."""

    NAME: str
    BINARY: str
    INSTALL: str

    def lacks(self, made: SetUp) -> Iterator[tuple[str, str, str]]: ...

    def files(self, made: SetUp, ports: Ports) -> dict[str, str]: ...

    def command(self, path: str) -> list[str]: ...

    def checker(self, path: str) -> list[str]: ...


def names() -> tuple[str, ...]:
    """Returns the proxies that a design can be written for."""
    return tuple(_discovered())


def proxy(name: str) -> Proxy:
    """Returns the proxy of this name.  Raises UsageError for an unknown one."""
    if name not in _discovered():
        raise UsageError(f"no proxy '{name}': {did_you_mean(name, _discovered())}")
    return _discovered()[name]


def accept(chosen: Proxy, made: SetUp) -> None:
    """Raises InputError with everything of the call that this proxy cannot do."""
    problems = [Problem(made.places[key], message, remedy) for key, message, remedy in chosen.lacks(made)]
    if problems:
        raise InputError(problems)


@functools.cache
def _discovered() -> Mapping[str, Proxy]:
    """Name -> module.  Raises InternalError for a name that two modules claim."""
    proxies: dict[str, Proxy] = {}
    for name in sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_")):
        proxy = cast("Proxy", importlib.import_module(f"{__name__}.{name}"))
        if proxy.NAME in proxies:
            raise InternalError(f"proxy '{proxy.NAME}' is claimed by two modules")
        proxies[proxy.NAME] = proxy
    return dict(sorted(proxies.items()))
