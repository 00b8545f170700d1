"""Finds the real proxies, one module each, by walking the package; each is a `Proxy`."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from typing import cast

from coherence.base.errors import InputError, InternalError, Problem, UsageError, did_you_mean
from coherence.simulate.testbed.proxy import Proxy
from coherence.simulate.testbed.set_up import SetUp


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
