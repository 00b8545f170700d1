"""Weights that a loop writes divide the requests of a run as they stand, and rest where the loop brings them."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.study.samples import RequestsUnderLoops, study
from coherence.simulate.study.setting import Setting

TEXT = """coherence: 1
workload: {r: {rate: 40 req/s}}
components:
  router: {cases: {a: 1 .. 9, b: 1}, copies: 40, takes: {serve: 0 s}}
  fast: {copies: 90, takes: {serve: 10 ms}}
  slow: {copies: 90, takes: {serve: 10 ms}}
calls: [{from: r, to: router}, {from: router, to: fast, case: a}, {from: router, to: slow, case: b}]
loops:
  shift:
    trigger: always
    timescale: {period: 500 s, phase: 500 s}
    actuation: {signal: router.cases.a, law: set, to: "9", from: 1, bounds: [1, 9]}
"""


@pytest.mark.parametrize("owner", ["router", "r"])
def test_requests_are_divided_by_the_weights_as_they_stand(owner: str) -> None:
    text = TEXT
    if owner == "r":  # a workload divides its own requests
        text = text.replace("rate: 40 req/s", "rate: 40 req/s, cases: {a: 1 .. 9, b: 1}").replace(
            "router.cases", "r.cases"
        )
        text = text.replace("  router: {cases: {a: 1 .. 9, b: 1}, copies: 40, takes: {serve: 0 s}}\n", "")
        text = text.replace("{from: r, to: router}, ", "").replace("from: router", "from: r")
    design, setting = read_text(text, "d"), Setting(until=1000.0, seeds=(1,))
    run = RequestsUnderLoops(design, processes(design), setting, 1)
    run.advance(499.0)
    before = run.run.observe()
    run.advance(501.0)
    middle = run.run.observe()
    run.advance(1000.0)
    after = run.run.observe()

    def share(first: dict[str, float], last: dict[str, float]) -> float:
        to = {
            name: last[f"{owner} -> {name}.tries"] - first.get(f"{owner} -> {name}.tries", 0.0)
            for name in ("fast", "slow")
        }
        return to["fast"] / sum(to.values())

    assert share({}, before) == pytest.approx(0.5, abs=0.02)  # 20,000 requests: 5.6 and 9.4 standard deviations
    assert share(middle, after) == pytest.approx(0.9, abs=0.02)


BALANCED = """coherence: 1
workload: {r: {rate: 14 req/s}}
components:
  router: {cases: {a: 1 .. 9, b: 1}, copies: 40, rate_per_copy: 100 req/s}
  fast: {copies: 10, rate_per_copy: 1.2 req/s}
  slow: {copies: 10, rate_per_copy: 0.6 req/s}
calls: [{from: r, to: router}, {from: router, to: fast, case: a}, {from: router, to: slow, case: b}]
loops:
  balance:
    trigger: always
    timescale: {period: 60 s, phase: 0 s}
    actuation:
      signal: router.cases.a
      law: set
      to: "router.cases.a * (14 / (router.cases.a + 1) / 6) / (14 * router.cases.a / (router.cases.a + 1) / 12)"
      from: 8
      bounds: [1, 9]
"""


@pytest.mark.slow
@pytest.mark.parametrize("start", ["from: 8", ""])
def test_pools_are_loaded_alike_where_a_loop_balances_them(start: str) -> None:
    """Without a start the run begins where the loop rests on requests that flow evenly."""
    text = BALANCED.replace("      from: 8\n", f"      {start}\n" if start else "")
    values = {
        (r.of, r.what): r.value for r in study(read_text(text, "d"), Setting(until=3000.0, seeds=(1, 2))).readings
    }
    assert values["fast", "busy"] == pytest.approx(77.8, abs=4)
    assert values["slow", "busy"] == pytest.approx(77.8, abs=4)
