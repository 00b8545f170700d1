"""Proxies in a row that try again inside each other: what is refused, the files, and two runs on a real Envoy."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import pytest

from coherence.base.errors import InputError
from coherence.simulate.testbed import proxies, reproduction
from coherence.simulate.testbed.observe import COLLAPSED, RECOVERED
from coherence.simulate.testbed.predict import predict, rule
from coherence.simulate.testbed.proxy import Ports
from coherence.simulate.testbed.reproduction import Observation
from coherence.simulate.testbed.set_up import course
from coherence.simulate.testbed.words import Reproduction, text
from tests.simulate.testbed.testbed_helpers import children_in, installed, lacking, made, undisturbed

TWO = """coherence: 1
workload: {clients: {rate: 10 req/s, service: {mean: 80 ms, cv: 1}}}
components: {edge: {}, workers: {copies: 4}}
calls:
  - {from: clients, to: edge, per_try: 1200 ms, tries: 2, on_timeout: cancel}
  - {from: edge, to: workers, per_try: 500 ms, tries: 2, on_timeout: abandon}
"""
ROWS = {2: RECOVERED, 3: COLLAPSED}  # tries of the second hop: 40 or 60 per second come of 50 that can be served
PORTS = Ports(9001, 9002, 9003, (9004,))


def tried(tries: int) -> str:
    return TWO.replace("500 ms, tries: 2", f"500 ms, tries: {tries}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tries: 2, on_timeout: cancel", "tries: 2, on_timeout: abandon", "ends the tries of a caller that has left"),
        ("1200 ms, tries: 2,", "1200 ms, tries: 2, retry_when: [timeout],", "answers a time-out as a failure"),
        ("edge: {}", "edge: {copies: 2}", "2 calls"),
        ("edge: {}", "edge: {takes: {serve: 5 ms}}", "2 calls"),
        ("from: edge", "from: clients", "2 calls"),
        ("per_try: 1200 ms, ", "", "needs per_try"),
        ("rate: 10", "rate: 600", "2400 tries per second"),
    ],
)
def test_a_chain_that_cannot_be_reproduced_says_why(old: str, new: str, message: str) -> None:
    assert old in TWO
    with pytest.raises(InputError, match=message):
        made(TWO.replace(old, new))


def test_the_set_up_of_two_hops() -> None:
    setup = made(TWO)
    assert [route.station for route in (*setup.hops, setup.route)] == ["edge", "workers"]
    assert (setup.station.name, setup.most_sends, setup.capacity) == ("workers", 4, 50.0)
    assert setup.longest == pytest.approx(2 * 1.0)  # two tries of 500 ms end before the first hop gives up
    assert made(tried(3)).longest == pytest.approx(2 * 1.2)
    found = rule(setup, course(pause=3, lasts=40, seed=1))
    assert (found.verdict, found.load) == ("", 40.0)


def test_envoy_has_a_listener_and_a_cluster_for_each_hop() -> None:
    (written,) = proxies.proxy("envoy").files(made(TWO), PORTS).values()
    resources = json.loads(written)["static_resources"]
    ins = [one["address"]["socket_address"]["port_value"] for one in resources["listeners"]]
    ends = [one["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"] for one in resources["clusters"]]
    assert ins == [9001, 9004]
    assert [one["address"]["socket_address"]["port_value"] for one in ends] == [9004, 9002]
    assert [lacking(name, made(TWO)) for name in ("haproxy", "nginx", "envoy")] == [["call"], ["call"], []]


def test_envoy_accepts_the_files_of_two_hops(tmp_path: Path) -> None:
    path, chosen = installed("envoy"), proxies.proxy("envoy")
    reproduction.write(tmp_path, made(TWO), chosen, course(pause=3, lasts=40, seed=1), PORTS)
    done = subprocess.run(chosen.checker(path), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout


@pytest.mark.slow
def test_retries_inside_retries_keep_an_overload_up(tmp_path: Path) -> None:
    """One try more on the second of two hops, and a pause of 3 s is never over."""
    installed("envoy")
    timing = course(pause=3.0, lasts=60.0, seed=1)

    def sent(tries: int) -> Observation:
        return reproduction.run(Path(mkdtemp(dir=tmp_path)), made(tried(tries)), proxies.proxy("envoy"), timing)

    with ThreadPoolExecutor(len(ROWS)) as pool:
        seen = dict(zip(ROWS, pool.map(sent, ROWS), strict=True))
    assert not children_in(tmp_path)
    for tries, verdict in ROWS.items():
        observed = undisturbed(partial(sent, tries), lambda observation: observation.disturbed, seen[tries])
        predicted = predict(made(tried(tries)), timing, seeds=2)
        told, end = predicted.measures, observed.measures.windows["end"]
        assert observed.measures.verdict == told.verdict == verdict
        assert end.tries == pytest.approx(told.windows["end"].tries, rel=0.05)
        assert observed.measures.windows["during"].tries == pytest.approx(told.windows["during"].tries, rel=0.05)
        assert end.tries == pytest.approx(6.0 if verdict == COLLAPSED else 1.0, abs=0.1)
        if verdict == RECOVERED:
            assert observed.measures.recovery == pytest.approx(told.recovery, rel=0.2)
        words = text(Reproduction("d.yaml", "envoy", made(tried(tries)), timing, observed, predicted))
        assert f"of 2 tries of 1200 ms each, each, of {tries} tries of 500 ms each" in words
