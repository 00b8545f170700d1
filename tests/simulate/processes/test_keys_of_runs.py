"""Keys of the language that a run carries out: laws, classes, order, second copies, limits, deadlines, cases."""

from __future__ import annotations

import math

import pytest

from coherence.base.errors import InputError
from coherence.door.simulate import simulate
from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.requests.engine import RequestResult, RequestRun
from coherence.simulate.requests.program import Program, Service

PLAIN = """\
coherence: 1
workload: {web: {rate: 10 req/s, service: {mean: 40 ms, cv: 1}}}
components: {s: {copies: 1}}
calls: [{from: web, to: s}]
"""


def program(text: str) -> Program:
    return processes(read_text(text, "d.yaml")).program


def run(text: str, *, until: float, seed: int = 3) -> RequestResult:
    running = RequestRun(program(text), seed=seed)
    running.advance(until)
    return running.result()


def problems(text: str) -> str:
    with pytest.raises(InputError) as refused:
        program(text)
    return str(refused.value)


@pytest.mark.parametrize(
    ("stated", "service"),
    [
        ("{mean: 40 ms, cv: 1}", Service(0.04)),
        ("{mean: 40 ms, law: exponential}", Service(0.04, "exponential", 1.0)),
        ("{mean: 40 ms, law: constant}", Service(0.04, "constant", 0.0)),
        ("{mean: 40 ms, cv: 2, law: lognormal}", Service(0.04, "lognormal", 2.0)),
        ("{mean: 40 ms, cv: 2, law: hyperexponential}", Service(0.04, "hyperexponential", 2.0)),
        ("{mean: 40 ms, cv: 1, max: 50 ms}", Service(0.04, most=0.05)),
    ],
)
def test_a_service_has_the_law_that_is_stated(stated: str, service: Service) -> None:
    assert program(PLAIN.replace("{mean: 40 ms, cv: 1}", stated)).stations[0].service == service


def test_measured_quantiles_are_drawn_with_their_own_mean_and_spread() -> None:
    stated = "{mean: 30 ms, quantiles: {0 %: 10 ms, 50 %: 20 ms, 100 %: 70 ms}}"
    service = program(PLAIN.replace("{mean: 40 ms, cv: 1}", stated)).stations[0].service
    assert service.family == "quantiles"
    assert service.mean == pytest.approx(0.03)
    assert service.quantiles == ((0.0, 0.01), (0.5, 0.02), (1.0, 0.07))
    square = 0.5 * (0.01**2 + 0.01 * 0.02 + 0.02**2) / 3 + 0.5 * (0.02**2 + 0.02 * 0.07 + 0.07**2) / 3
    result = run(PLAIN.replace("{mean: 40 ms, cv: 1}", stated), until=40_000)
    wait = float((result.requests.latency).mean()) - 0.03
    assert wait == pytest.approx(10 * square / (2 * (1 - 0.3)), rel=0.05)  # Pollaczek and Khinchine


TWO = """\
coherence: 1
workload:
  gold: {{rate: 4 req/s, service: {{mean: 100 ms, cv: 1}}, priority: 2}}
  bulk: {{rate: 4 req/s, service: {{mean: 100 ms, cv: 1}}}}
components: {{s: {{copies: 1, discipline: {discipline}}}}}
calls: [{{from: gold, to: s}}, {{from: bulk, to: s}}]
"""


def sojourns(discipline: str) -> list[float]:
    result = run(TWO.format(discipline=discipline), until=60_000)
    return [float(result.requests.latency[result.requests.source == number].mean()) for number in (0, 1)]


@pytest.mark.slow
def test_a_higher_priority_waits_as_cobham_says() -> None:
    # W_k = W0 / ((1 - sigma_{k-1})(1 - sigma_k)), W0 = lambda E[S^2] / 2
    # SOURCE: Kleinrock, Queueing Systems II, (3.31)
    remaining, gold, both = 8 * 2 * 0.1**2 / 2, 0.4, 0.8
    expected = [remaining / (1 - gold) + 0.1, remaining / ((1 - gold) * (1 - both)) + 0.1]
    assert sojourns("priority") == pytest.approx(expected, rel=0.04)


@pytest.mark.slow
def test_who_preempts_does_not_see_the_others_and_they_go_on_later() -> None:
    # M/M/1 preemptive resume: T_gold = (1/mu)/(1 - rho_gold), T_bulk = (1/mu)/((1 - rho_gold)(1 - rho))
    assert sojourns("preemptive") == pytest.approx([0.1 / 0.6, 0.1 / (0.6 * 0.2)], rel=0.04)


@pytest.mark.slow
def test_last_come_first_served_waits_as_long_on_average_and_longer_at_most() -> None:
    means = sojourns("lifo")
    assert means == pytest.approx([0.1 / 0.2] * 2, rel=0.05)
    (station,) = program(TWO.format(discipline="preemptive repeat")).stations
    assert (station.discipline, station.redo) == ("preemptive", True)


def test_a_second_copy_is_sent_after_so_long() -> None:
    text = PLAIN.replace("to: s}", "to: s, hedge_after: 20 ms, on_timeout: cancel}").replace(
        "copies: 1", "copies: 1000"
    )
    result = run(text, until=3000)
    # the lesser of a service and of 20 ms plus another one
    mean = 0.04
    early = mean * (1 - math.exp(-0.5))
    expected = early + math.exp(-0.5) * mean / 2
    assert float(result.requests.latency.mean()) == pytest.approx(expected, rel=0.02)
    assert result.counters["web -> s.hedges"] / result.counters["web.arrivals"] == pytest.approx(
        math.exp(-0.5), rel=0.03
    )


def test_a_deadline_of_a_workload_ends_its_requests() -> None:
    text = PLAIN.replace("cv: 1}}", "cv: 1}, deadline: 60 ms}").replace("copies: 1", "copies: 1000")
    assert "web -> s needs on_timeout" in problems(text)
    result = run(text.replace("to: s}", "to: s, on_timeout: cancel}"), until=3000)
    assert float(result.requests.completed.mean()) == pytest.approx(1 - math.exp(-1.5), abs=0.01)
    assert result.requests.latency.max() <= 0.06 + 1e-12


def test_what_would_wait_too_long_is_turned_away() -> None:
    text = PLAIN.replace("10 req/s", "50 req/s") + "limits: {l: {counts: s.wait, at_most: 100 ms, when_full: reject}}\n"
    assert program(text).stations[0].shed_above == pytest.approx(0.1)
    result = run(text, until=2000)
    assert result.counters["s.queue"] <= 3


BALANCED = """\
coherence: 1
workload: {web: {rate: 12 req/s, service: {mean: 50 ms, cv: 1}}}
components:
  balancer: {cases: {large: 3, small: 1}}
  a: {copies: 1}
  b: {copies: 1}
calls:
  - {from: web, to: balancer}
  - {from: balancer, to: a, case: large}
  - {from: balancer, to: b, case: small}
"""


def test_a_balancer_sends_by_its_weights() -> None:
    counters = run(BALANCED, until=5000).counters
    assert counters["balancer -> a.calls"] / counters["balancer -> b.calls"] == pytest.approx(3, rel=0.04)


def test_branches_of_a_balancer_are_queues_of_their_own() -> None:
    result = run(BALANCED, until=20_000)
    # three quarters wait in an M/M/1 at 9/s, one in one at 3/s, both of 20/s
    assert float(result.requests.latency.mean()) == pytest.approx(0.75 / (20 - 9) + 0.25 / (20 - 3), rel=0.03)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("cases: {large: 3}", "and not of small"),
        ("cases: {large: 3, small: 1, medium: 2}", "no call of 'balancer' is of case 'medium'"),
        ("cases: {large: 0, small: 0}", "no request of 'balancer' is of any case"),
        ("copies: 1", "how many requests make it is not said"),
    ],
)
def test_weights_that_do_not_fit_the_cases_are_refused(weights: str, message: str) -> None:
    assert message in problems(BALANCED.replace("cases: {large: 3, small: 1}", weights))


SWITCHING = "arrivals: {switches: [{rate: 5 req/s, lasts: 9 s}, {rate: 8 req/s, lasts: 2 s}]}"
BATCHER = "{uses: batcher, max_batch: 4, fixed: 2 ms, each: 1 ms, wait: 9 ms}"
BUCKET = "{uses: token_bucket, rate: 5 req/s, burst: 2 req, size: 3}, t: {copies: 1}"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (PLAIN.replace("cv: 1}}", f"cv: 1}}, {SWITCHING}}}"), "workload.web.rate"),
        (PLAIN.replace("{copies: 1}", BATCHER), "components.s.wait"),
        (
            PLAIN.replace("{copies: 1}", BUCKET).replace("to: s}", "to: s}, {from: s, to: t}"),
            "components.s.size",
        ),
    ],
)
def test_a_value_that_the_form_of_its_entry_leaves_without_a_use_is_named(text: str, path: str) -> None:
    """Each was taken for read where all values of the entry were looked through, and changed nothing."""
    (lines,) = simulate(text, until="20 s", runs=1).unread
    assert path in [line.path for line in lines]
