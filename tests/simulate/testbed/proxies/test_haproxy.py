"""What is written for HAProxy."""

from __future__ import annotations

import pytest

from coherence.simulate.testbed.proxies import haproxy
from coherence.simulate.testbed.set_up import SetUp
from tests.simulate.testbed.testbed_helpers import PORTS, lacking, made, routed, written


def sections(setup: SetUp) -> dict[str, list[str]]:
    """Section of the file -> its lines."""
    parts: dict[str, list[str]] = {}
    for line in written("haproxy", setup).splitlines():
        if line.startswith(" "):
            parts[next(reversed(parts))].append(line.strip())
        elif line and not line.startswith("#"):
            parts[line] = []
    return parts


@pytest.mark.parametrize(
    ("tries", "retries", "again"), [(1, 0, "none"), (2, 1, "response-timeout"), (5, 4, "response-timeout")]
)
def test_retries_are_the_tries_after_the_first(tries: int, retries: int, again: str) -> None:
    defaults = sections(routed(tries=tries))["defaults"]
    assert f"retries {retries}" in defaults
    assert f"retry-on {again}" in defaults


@pytest.mark.parametrize(("per_try", "text"), [(0.25, "250ms"), (2.0, "2000ms"), (0.0002, "1ms")])
def test_a_try_ends_after_its_limit(per_try: float, text: str) -> None:
    defaults = sections(routed(per_try=per_try))["defaults"]
    assert [line for line in defaults if line.endswith(text)] == [f"timeout connect {text}", f"timeout server {text}"]


def test_the_proxy_listens_and_calls_on_its_ports_of_loopback() -> None:
    parts = sections(made())
    assert parts["frontend clients"][0] == f"bind 127.0.0.1:{PORTS.proxy}"
    assert parts["backend workers"] == [f"server backend 127.0.0.1:{PORTS.backend}"]  # no maxconn: nothing queues


@pytest.mark.parametrize(("tries", "words"), [(1, "1 try of 250ms"), (3, "3 tries of 250ms")])
def test_the_first_line_names_the_call(tries: int, words: str) -> None:
    assert words in written("haproxy", routed(tries=tries)).splitlines()[0]


def test_its_commands() -> None:
    assert haproxy.command("/usr/sbin/haproxy") == ["/usr/sbin/haproxy", "-db", "-f", "haproxy.cfg"]
    assert haproxy.checker("/usr/sbin/haproxy") == ["/usr/sbin/haproxy", "-c", "-f", "haproxy.cfg"]


def test_a_plain_call_can_be_done() -> None:
    assert not lacking("haproxy", made())
