"""What is written for nginx, and what it and HAProxy, which know no retry policies, cannot do."""

from __future__ import annotations

from typing import Any

import pytest

from coherence.simulate.requests.program import RetryBudget, RetryPause
from coherence.simulate.testbed.proxies import nginx
from coherence.simulate.testbed.set_up import SetUp
from tests.simulate.testbed.testbed_helpers import PORTS, lacking, made, routed, written


def directives(setup: SetUp) -> list[str]:
    return [line.strip().rstrip(";") for line in written("nginx", setup).splitlines()]


@pytest.mark.parametrize(("tries", "again"), [(1, "off"), (2, "timeout"), (6, "timeout")])
def test_the_group_has_a_server_for_every_try(tries: int, again: str) -> None:
    lines = directives(routed(tries=tries))
    assert lines.count(f"server 127.0.0.1:{PORTS.backend} max_fails=0") == tries
    assert f"proxy_next_upstream {again}" in lines
    assert f"proxy_next_upstream_tries {tries}" in lines


@pytest.mark.parametrize(("per_try", "text"), [(0.25, "250ms"), (2.0, "2000ms"), (0.0002, "1ms")])
def test_a_try_ends_after_its_limit(per_try: float, text: str) -> None:
    timeouts = [line for line in directives(routed(per_try=per_try)) if "timeout" in line and line.endswith(text)]
    assert timeouts == [f"proxy_{step}_timeout {text}" for step in ("connect", "send", "read")]


def test_it_listens_on_loopback_alone() -> None:
    listens = [line for line in directives(made()) if line.startswith("listen")]
    assert listens == [f"listen 127.0.0.1:{PORTS.proxy} backlog=4096"]


@pytest.mark.parametrize(("tries", "words"), [(1, "1 try of 250ms"), (3, "3 tries of 250ms")])
def test_the_first_line_names_the_call(tries: int, words: str) -> None:
    assert words in written("nginx", routed(tries=tries)).splitlines()[0]


def test_it_stays_in_its_folder_and_in_the_foreground() -> None:
    assert nginx.command("nginx") == ["nginx", "-p", ".", "-e", "stderr", "-c", "nginx.conf"]
    assert nginx.checker("nginx") == [*nginx.command("nginx"), "-t"]
    assert {"daemon off", "master_process off"} <= set(directives(made()))


@pytest.mark.parametrize("name", ["nginx", "haproxy"])
@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({}, []),
        ({"pause": RetryPause(0.01)}, ["pause"]),
        ({"pause": RetryPause(0.01), "tries": 1}, []),  # never drawn
        ({"budget": RetryBudget(0.2)}, ["budget"]),
        ({"most_retries": 3.0}, ["budget"]),
        ({"breaker": 9.0}, ["breaker"]),
        ({"deadline": 0.74}, ["deadline"]),
        ({"deadline": 0.75}, []),  # three tries of 250 ms end then anyhow
        ({"deadline": 0.25, "tries": 1}, []),
    ],
)
def test_a_proxy_without_retry_policies_says_what_it_lacks(name: str, changes: dict[str, Any], keys: list[str]) -> None:
    assert lacking(name, routed(**changes)) == keys
