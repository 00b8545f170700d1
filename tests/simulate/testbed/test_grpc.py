"""Unary calls of gRPC through a real Envoy: retries, second copies and two hops do what the engine's draws predict."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.simulate.testbed import proxies, reproduction
from coherence.simulate.testbed.observe import COLLAPSED, RECOVERED, Measures
from coherence.simulate.testbed.predict import simulated
from coherence.simulate.testbed.proxies import envoy
from coherence.simulate.testbed.proxy import Ports
from coherence.simulate.testbed.reproduction import Observation
from coherence.simulate.testbed.set_up import RunTiming, SetUp, course
from tests.simulate.testbed.testbed_helpers import (
    DESIGN,
    SHARE,
    THREE,
    children_in,
    installed,
    lacking,
    made,
    undisturbed,
)

TWO = """coherence: 1
workload: {clients: {rate: 10 req/s, service: {mean: 80 ms, cv: 1}}}
components: {edge: {}, workers: {copies: 4}}
calls:
  - {from: clients, to: edge, per_try: 1200 ms, tries: 2, on_timeout: cancel}
  - {from: edge, to: workers, per_try: 500 ms, tries: 3, on_timeout: abandon}
"""
ONCE = DESIGN.replace("rate: 50", "rate: 65").replace("per_try: 250", "deadline: 400 ms\n    per_try: 400")
HEDGED = ONCE.replace("tries: 3", "tries: 1\n    hedge_after: 200 ms")
PORTS = Ports(9001, 9002, 9003)


def over_grpc(text: str = DESIGN) -> SetUp:
    return replace(made(text), protocol="grpc")


def spoken() -> None:
    """Skips where this machine has no Envoy, or no gRPC."""
    installed("envoy")
    pytest.importorskip("grpc")


def resources(setup: SetUp) -> dict[str, Any]:
    (written,) = envoy.files(setup, PORTS).values()
    return dict(json.loads(written)["static_resources"])


def test_both_sides_of_envoy_speak_http_2_and_statuses_of_grpc_are_tried_again() -> None:
    for text in (DESIGN, HEDGED):
        (listener,), (cluster,) = resources(over_grpc(text))["listeners"], resources(over_grpc(text))["clusters"]
        manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
        (options,) = cluster["typed_extension_protocol_options"].values()
        assert "http2_protocol_options" in manager
        assert "http2_protocol_options" in options["explicit_http_config"]
        policy = manager["route_config"]["virtual_hosts"][0]["routes"][0]["route"]["retry_policy"]
        assert policy["retry_on"] == "gateway-error,deadline-exceeded,unavailable"


def test_envoy_accepts_the_files(tmp_path: Path) -> None:
    path = installed("envoy")
    reproduction.write(tmp_path, over_grpc(), proxies.proxy("envoy"), course(pause=3, lasts=40, seed=1), PORTS)
    done = subprocess.run(envoy.checker(path), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "grpcio" in (tmp_path / "README.txt").read_text()


@pytest.mark.parametrize("name", ["nginx", "haproxy"])
def test_the_other_proxies_refuse(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lacking(name, over_grpc()) == ["call"]
    (tmp_path / "design.yaml").write_text(DESIGN)
    assert run(["reproduce", str(tmp_path / "design.yaml"), "--with", name, "--protocol", "grpc", "--dry-run"]) == 2
    assert "use --with envoy, or leave --protocol out" in capsys.readouterr().err


def test_without_grpcio_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    reproduction.refuse_missing_grpc(made())
    with pytest.raises(UsageError, match=r"coherence-engine\[testbed\]"):
        reproduction.refuse_missing_grpc(over_grpc())


def observed(setup: SetUp, timing: RunTiming, folder: Path) -> Observation:
    return reproduction.run(Path(mkdtemp(dir=folder)), setup, proxies.proxy("envoy"), timing)


ROWS: dict[str, tuple[str, str, float]] = {  # design, verdict, tries per request in the last quarter
    "three tries": (DESIGN, COLLAPSED, 3.0),
    "one try": (DESIGN.replace("tries: 3", "tries: 1"), RECOVERED, 1.0),
    "a cap on retries": (DESIGN + THREE, RECOVERED, 1.0),
    "a budget": (DESIGN + SHARE, RECOVERED, 1.0),
    "one copy": (ONCE.replace("tries: 3", "tries: 1"), RECOVERED, 1.0),
    "second copies": (HEDGED, COLLAPSED, 2.0),
    "two hops": (TWO, COLLAPSED, 6.0),
}


@pytest.mark.slow
def test_calls_end_as_their_own_draws_predict(tmp_path: Path) -> None:
    """Seven designs at once; the draws of a run are its prediction's, so that chance decides nothing."""
    spoken()
    timing = course(pause=3.0, lasts=40.0, seed=1)
    setups = {name: over_grpc(text) for name, (text, _, _) in ROWS.items()}
    with ThreadPoolExecutor(len(ROWS)) as pool:
        first = dict(zip(ROWS, pool.map(lambda setup: observed(setup, timing, tmp_path), setups.values()), strict=True))
    assert not children_in(tmp_path)
    for name, (_, verdict, tries) in ROWS.items():
        again = partial(observed, setups[name], timing, tmp_path)
        seen = undisturbed(again, lambda each: each.disturbed, first[name]).measures
        told = simulated(setups[name], timing)
        assert seen.verdict == told.verdict == verdict, (name, seen)
        alike(seen, told, tries)


def alike(seen: Measures, told: Measures, tries: float) -> None:
    for window in ("during", "end"):
        assert seen.windows[window].tries == pytest.approx(told.windows[window].tries, rel=0.05)
    assert seen.windows["end"].tries == pytest.approx(tries, rel=0.05)
    if told.verdict == RECOVERED:
        assert seen.recovery == pytest.approx(told.recovery, rel=0.2)
        assert seen.windows["end"].success > 0.97
    else:
        assert seen.windows["end"].success < 0.05


@pytest.mark.slow
def test_a_hop_answers_with_a_status_of_grpc_that_gateway_errors_do_not_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second hop fails before the first gives up: without the names of gRPC 2 tries of each request come, not 4."""
    spoken()
    setup = over_grpc(TWO.replace("500 ms, tries: 3", "500 ms, tries: 2"))
    timing = RunTiming(before=1.0, pause=4.0, lasts=10.0)
    for conditions, tries in ((envoy.RETRIED["grpc"], 4), ("gateway-error", 2)):
        monkeypatch.setitem(envoy.RETRIED, "grpc", conditions)
        seen = observed(setup, timing, tmp_path).measures
        assert seen.windows["during"].tries == pytest.approx(tries, abs=0.4), conditions


@pytest.mark.slow
def test_the_command_speaks_grpc(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoken()
    path = tmp_path / "design.yaml"
    path.write_text(DESIGN.replace("tries: 3", "tries: 1"))
    words = ["reproduce", str(path), "--with", "envoy", "--protocol", "grpc", "--pause", "1s", "--for", "16s"]

    def reproduced() -> dict[str, Any]:
        assert run([*words, "-o", "json"]) == 0
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    answer = undisturbed(reproduced, lambda answer: answer["observed"]["disturbed"])
    assert answer["with"] == "envoy over gRPC"
    assert answer["observed"]["verdict"] == answer["predicted"]["verdict"] == RECOVERED
