"""Stamps of a chain of calls: by hand, in any run, and from a recorded run to the score of each layer."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from coherence.causal.data.index_inputs import IndexInputs
from coherence.causal.data.request_log_files import read
from coherence.causal.indices import MeasuredIndex
from coherence.causal.indices.layers import chain, measure
from coherence.simulate.requests.engine import RequestResult, simulate
from coherence.simulate.requests.program import Arrivals, BatchRule, Plan, Program, Route, Service, Source, Station
from coherence.simulate.requests.station_times import stamps
from tests.causal.request_logs_of_runs import of_run

DESIGN = """\
coherence: 1
workload:
  clients: {rate: 20 req/s, service: {mean: 70 ms, cv: 1}, deadline: 400 ms}
components:
  front: {copies: 6, rate_per_copy: 20 req/s}
  back: {copies: 2}
calls:
  - {from: clients, to: front, per_try: 1 s, tries: 2, retry_when: [timeout], on_timeout: abandon}
  - {from: front, to: back, per_try: 500 ms, tries: 2, retry_when: [timeout], on_timeout: abandon}
"""


def run(
    *, times: tuple[float, ...] = (), rate: float = 0.0, tries: int = 1, per_try: float = math.inf, until: float = 60.0,
    plan: Plan = (("front",),), behind: Plan = (("back",),), batch: BatchRule | None = None, seed: int = 1,
    family: str = "exponential", trace: bool = True,
) -> RequestResult:  # fmt: skip
    """Requests to the front, which calls the back: services of 0.1 and 0.2 s."""
    came = Arrivals("trace", times=times) if times else Arrivals(rate=rate)
    program = Program(
        (Source("clients", came, plan),),
        (Station("front", 2, Service(0.1, family), plan=behind), Station("back", 1, Service(0.2, family), batch=batch)),
        (Route("front", "front", tries=tries, per_try=per_try), Route("back", "back", tries=tries, per_try=per_try)),
    )
    return simulate(program, seed=seed, until=until, trace=trace)


def test_three_requests_by_hand() -> None:
    """The front holds two at a time until the back, which serves one, has answered: the third begins at 0.3 s."""
    result = run(times=(0.0, 0.0, 0.0), family="constant")
    front, back = stamps(result)
    assert (front.name, back.name) == ("front", "back")
    assert front.left == pytest.approx([0.1, 0.1, 0.4])
    assert back.left == pytest.approx([0.3, 0.5, 0.7])
    assert (front.share, back.share) == pytest.approx((1 / 3, 2 / 3))
    found = chain(of_run(result, deadline=0.55))
    assert found.names == ("the need itself", "front", "back")
    assert found.lost.tolist() == [-1, -1, 1]  # 0.4 s at the front, and 0.2 s more of need at the back, exceed 0.55 s


def test_a_chain_of_stages_is_the_same_as_a_chain_of_calls() -> None:
    result = run(times=(0.0, 5.0), family="constant", plan=(("front",), ("back",)), behind=())
    left = [one.left for one in stamps(result)]
    assert np.array(left) == pytest.approx(np.array([[0.1, 5.1], [0.3, 5.3]]))


@pytest.mark.parametrize("seed", range(4))
def test_stamps_are_in_order_and_end_with_the_answer(seed: int) -> None:
    result = run(rate=4.0, tries=3, per_try=0.8, seed=seed)
    layers = stamps(result)
    assert [one.name for one in layers] == ["earlier tries", "front", "back"]
    before = result.requests.start
    for one in layers:
        assert not (one.left < before).any()
        before = np.where(np.isnan(one.left), np.inf, one.left)  # what never left one layer leaves none after it
        assert (one.left[~np.isnan(one.left)] <= result.requests.end[~np.isnan(one.left)]).all()
    done = result.requests.completed
    assert 0 < done.sum() < len(done)
    assert np.array_equal(layers[-1].left[done], result.requests.end[done])
    assert np.isnan(layers[-1].left[~done]).all()
    once = result.requests.tries == 1
    assert np.array_equal(layers[0].left[once], result.requests.start[once])
    log = of_run(result, deadline=0.5)
    assert math.prod(chain(log).scores, start=Fraction(1)) == Fraction(int(log.in_time.sum()), len(log))


def test_where_paths_differ_there_are_no_layers() -> None:
    assert stamps(run(rate=1.0, plan=(("front", "back"),), behind=())) == ()
    assert stamps(run(rate=1.0, batch=BatchRule(2, 0.1, 0.1, 0.1))) == ()
    assert stamps(run(rate=1.0, plan=(("front",), ("front",)))) == ()
    assert stamps(run(rate=1.0, trace=False)) == ()
    assert of_run(run(rate=1.0, trace=False)).layers == ()


def test_a_recorded_run_gives_the_score_of_each_layer(tmp_path: Path) -> None:
    from coherence.language.reading import read_text
    from coherence.simulate.study.recording import record
    from coherence.simulate.study.setting import Setting

    paths = record(read_text(DESIGN, "design.yaml"), Setting(60.0, 0.0, (1,)), tmp_path)
    log = read(paths[-1], deadline=0.4)
    found = measure(IndexInputs(log))
    assert isinstance(found, MeasuredIndex)
    names = ["the need itself", "earlier tries", "front", "back"]
    assert [part.name for part in found.parts] == [f"kappa of {name}" for name in names]
    product = math.prod(part.estimate.value for part in found.parts)
    assert product == pytest.approx(found.estimate.value) == pytest.approx(log.in_time.mean())
    assert found.parts[-1].estimate.value < 0.99
