"""Designs and helpers that the tests of the testbed share."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from coherence.language.reading import read_text
from coherence.simulate.testbed import proxies
from coherence.simulate.testbed.processes import binary
from coherence.simulate.testbed.proxy import Ports
from coherence.simulate.testbed.set_up import SetUp, set_up

T = TypeVar("T")
GOLDEN = Path(__file__).parent / "proxies"
PORTS = Ports(9001, 9002, 9003)
PROXIES = ("envoy", "haproxy", "nginx")
DESIGN = """coherence: 1
workload: {clients: {rate: 50 req/s, service: {mean: 40 ms, cv: 1}}}
components: {workers: {copies: 4}}
calls:
  - from: clients
    to: workers
    per_try: 250 ms
    tries: 3
    retry_when: [timeout]
    on_timeout: abandon
"""
BUDGET = "    budget: retries\nlimits:\n  retries: {uses: retry_budget, counts: clients.retries in flight, at_most: "
SHARE = f"{BUDGET}20 % of clients in flight}}\n"
THREE = "    budget: retries\nlimits: {retries: {counts: clients.retries in flight, at_most: 3, when_full: reject}}\n"
LINUX = pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc to see which processes are left")


def made(text: str = DESIGN, *, pause: float = 3.0, before: float = 10.0) -> SetUp:
    return set_up(read_text(text, "design.yaml"), before=before, pause=pause)


def routed(**changes: Any) -> SetUp:
    """Returns the set-up of the design, with some fields of its route changed."""
    whole = made()
    route = dataclasses.replace(whole.route, **changes)
    return dataclasses.replace(whole, program=dataclasses.replace(whole.program, routes=(route,)))


def written(name: str, setup: SetUp) -> str:
    """Returns the one file that a proxy writes for a set-up."""
    (text,) = proxies.proxy(name).files(setup, PORTS).values()
    return text


def lacking(name: str, setup: SetUp) -> list[str]:
    """Returns the keys of the call that a proxy cannot do, in the order in which it tells them."""
    return [key for key, _, _ in proxies.proxy(name).lacks(setup)]


def installed(name: str) -> str:
    chosen = proxies.proxy(name)
    path = binary(chosen.BINARY)
    if path is None:
        pytest.skip(f"no `{chosen.BINARY}` on this machine ({chosen.INSTALL})")
    return path


def undisturbed(observe: Callable[[], T], disturbed: Callable[[T], object], first: T | None = None) -> T:
    """Returns an observation of real processes that the machine did not disturb: at most three are made.

    What was seen while timers came late is the machine's and decides nothing, so the test is skipped after the third.
    """
    observation = observe() if first is None else first
    for _ in range(2):
        if not disturbed(observation):
            return observation
        observation = observe()
    if disturbed(observation):
        pytest.skip(f"three observations were disturbed by this machine, the last one: {disturbed(observation)}")
    return observation


def children_in(folder: Path) -> list[int]:
    """Processes whose working directory is the folder or below it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                at = (entry / "cwd").readlink()
                zombie = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            except OSError:
                continue
            if not zombie and (at == folder or folder in at.parents):
                found.append(int(entry.name))
    return found


def within(seconds: float, *, step: float = 0.02) -> Iterator[None]:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        yield
        time.sleep(step)
