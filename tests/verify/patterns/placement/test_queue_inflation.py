"""Queue inflation beside runs of the same designs, and beside sums and departures on drawn chains."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.requests.engine import OUTCOMES, simulate
from coherence.simulate.requests.program import Arrivals, Service
from coherence.verify.facts.design_facts import known
from coherence.verify.patterns.placement._queue_paths import CallPaths
from coherence.verify.patterns.placement.queue_inflation import ask

QUEUES = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 400)), min_size=1, max_size=4)
INFLATED = [(200, 150), (100, 150)]  # rate, and what may wait
REPAIRED = [(200, 90), (100, 90)]


def text_of(queues: list[tuple[int, int]], deadline: int = 2) -> str:
    """Returns a design of a request that passes queues of these rates and limits, one after another."""
    things = ", ".join(f"q{n}: {{copies: 1, rate_per_copy: {rate} req/s}}" for n, (rate, _) in enumerate(queues))
    limits = "".join(
        f"  l{n}: {{counts: q{n}.waiting, at_most: {most} req, when_full: reject}}\n"
        for n, (_, most) in enumerate(queues)
    )
    calls = ", ".join(f"{{from: users, to: q{n}, stage: s{n}, on_timeout: cancel}}" for n in range(len(queues)))
    rate = min(rate for rate, _ in queues) * 0.6
    workload = f"workload: {{users: {{rate: {rate:g} req/s, deadline: {deadline} s}}}}\n"
    return f"coherence: 1\n{workload}components: {{{things}}}\nlimits:\n{limits}calls: [{calls}]\n"


def answers(text: str) -> list[Finding]:
    return list(ask(Subject(read_text(text, "d"), {"d": text})))


def tandem(queues: list[tuple[int, int]]) -> Fraction:
    """Returns when the last of the first queue leaves the last one, from full queues, departure by departure."""
    coming = [Fraction(0)]
    for number, (rate, most) in enumerate(queues):
        free, leaving = Fraction(0), []
        waiting = [Fraction(0)] * (most if number == 0 else most - 1) + coming
        starts: deque[Fraction] = deque()
        for place, arrival in enumerate(waiting):
            while starts and starts[0] <= arrival:
                starts.popleft()
            last = place == len(waiting) - 1  # whom this is about is let in
            if len(starts) > most and not last:
                continue
            start = max(free, arrival)
            starts.append(start)
            free = start + Fraction(1, rate)
            leaving.append(free)
        coming = leaving
    return coming[-1]


def verdicts(queues: list[tuple[int, int]], deadline: int) -> tuple[Verdict, Verdict]:
    """Returns what the sum and the departures allow, where a service more or less of each queue is left open."""
    services = sum(Fraction(1, rate) for rate, _ in queues)
    together = sum(Fraction(most, rate) for rate, most in queues) + services
    if together <= deadline:
        return Verdict.PROVED, Verdict.PROVED
    longest = max(tandem(queues[number:]) for number in range(len(queues)))
    sure = Verdict.CONFLICT if longest - 2 * services > deadline else Verdict.UNDECIDED
    return sure, Verdict.CONFLICT if longest + 2 * services > deadline else Verdict.UNDECIDED


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(queues=QUEUES)
def test_the_verdict_is_that_of_the_sum_and_of_the_departures(queues: list[tuple[int, int]]) -> None:
    (found,) = answers(text_of(queues, 50))
    assert found.verdict in verdicts(queues, 50)
    if found.verdict is Verdict.PROVED:
        services = sum(Fraction(1, rate) for rate, _ in queues)
        assert found.evidence.numbers["together"] == (sum(Fraction(m, r) for r, m in queues) + services, "s")


def test_the_repair_is_a_proof() -> None:
    queues = [(200, 150), (100, 150)]
    (repair,) = answers(text_of(queues))[0].repairs
    most = [int(edit.new.split()[0]) for edit in repair.edits]
    (found,) = answers(text_of([(rate, n) for (rate, _), n in zip(queues, most, strict=True)]))
    assert (most, found.verdict) == ([132, 132], Verdict.PROVED)


def outcomes(queues: list[tuple[int, int]]) -> dict[str, int]:
    """Returns what becomes of 150 requests at once and then 220 a second for 3 s, where services are constant."""
    program = processes(read_text(text_of(queues), "d")).program
    (source,) = program.sources
    burst = Arrivals("trace", times=(*(n * 1e-5 for n in range(150)), *(0.01 + n / 220 for n in range(660))))
    stations = tuple(replace(own, service=Service(own.service.mean, "constant", 0.0)) for own in program.stations)
    result = simulate(replace(program, sources=(replace(source, arrivals=burst),), stations=stations), seed=1, until=9)
    return {name: int((result.requests.outcome == number).sum()) for number, name in enumerate(OUTCOMES)}


def test_a_burst_makes_requests_late_within_all_limits_and_none_in_the_repaired_twin() -> None:
    inflated, repaired = outcomes(INFLATED), outcomes(REPAIRED)
    assert [finding.certainty for finding in answers(text_of(INFLATED))] == ["possible"]
    assert [finding.verdict for finding in answers(text_of(REPAIRED))] == [Verdict.PROVED]
    assert inflated["deadline"] > 10
    assert repaired["deadline"] == 0
    assert repaired["completed"] > inflated["completed"] * 0.5


def test_a_diamond_of_calls_is_walked_once_for_each_thing() -> None:
    """Sixty levels of two things each: 2^60 paths, and one longest path behind each thing."""
    pairs = [f"{{from: {a}{n}, to: {b}{n + 1}}}" for n in range(60) for a in "ab" for b in "ab"]
    things = "\n".join(f"  {a}{n}: {{copies: 1, rate_per_copy: 1 req/s}}" for n in range(61) for a in "ab")
    text = f"coherence: 1\ncomponents:\n{things}\ncalls: [{', '.join(pairs)}]\n"
    assert CallPaths(known(Subject(read_text(text, "d"), {"d": text}))).longest("a0") is not None


def test_a_proof_names_what_keeps_members_and_requests_where_they_are() -> None:
    """A boundary that delays calls stands around one thing, and a place may go away."""
    text = text_of(REPAIRED) + (
        "infrastructure: {boundaries: {guest: {around: [q1], call_delay: 1 s}}}\nplaces: {node: {count: 3, lost: 1}}\n"
    )
    (found,) = answers(text)
    assert found.verdict is Verdict.PROVED
    stand = {f"{thing} stands on no place that goes away" for thing in ("q0", "q1")}
    named = {"users sends users -> q1 from inside guest", *stand}
    assert named <= set(found.assumptions)


CUT = """coherence: 1
workload: {users: {rate: 20 req/s, deadline: 500 ms}, batch: {rate: 8 req/s}}
components: {q0: {copies: 4, rate_per_copy: 10 req/s}, q1: {copies: 6, rate_per_copy: 10 req/s}}
limits:
  l0: {counts: q0.waiting, at_most: 1 req, when_full: reject}
  l1: {counts: q1.waiting, at_most: 30 req, when_full: reject}
calls:
  - {from: users, to: q0, on_timeout: abandon}
  - {from: batch, to: q0, per_try: 50 ms, on_timeout: cancel}
  - {from: q0, to: q1}
"""


def test_no_more_wait_than_members_call_where_cancelling_ends_what_they_wait_for() -> None:
    """Else calls of batch that q0 has left fill the 30 places at q1: 500 ms there, and 225 ms on the way."""
    assumed = "cancelling batch -> q0 also ends what it waits for"
    (found,) = (own for own in answers(CUT) if own.verdict is Verdict.PROVED)
    assert found.assumptions[1:] == (assumed,)
    (found,) = (own for own in answers(CUT.replace("cancel}", "abandon}")) if own.verdict is Verdict.PROVED)
    assert found.assumptions[1:] == ()


CALLS = st.lists(
    st.tuples(
        st.integers(1, 9), st.integers(1, 40), st.none() | st.integers(1, 12), st.sampled_from(["", "one", "two"])
    ),
    min_size=1,
    max_size=3,
)  # rate, what may wait, seconds until it is given up, stage


def fan(calls: list[tuple[int, int, int | None, str]]) -> str:
    """Returns a design of a caller that asks a thing with a queue by each of these calls."""
    things = ", ".join(f"q{n}: {{copies: 1, rate_per_copy: {rate} req/s}}" for n, (rate, *_) in enumerate(calls))
    limits = "".join(
        f"  l{n}: {{counts: q{n}.waiting, at_most: {most} req, when_full: reject}}\n"
        for n, (_, most, *_) in enumerate(calls)
    )
    made = ", ".join(
        f"{{from: users, to: q{n}, on_timeout: cancel"
        + (f", deadline: {end} s" if end else "")
        + (f", stage: {stage}}}" if stage else "}")
        for n, (_, _, end, stage) in enumerate(calls)
    )
    workload = "workload: {users: {rate: 0.1 req/s, deadline: 1000 s}}\n"
    return f"coherence: 1\n{workload}components: {{{things}}}\nlimits:\n{limits}calls: [{made}]\n"


def schedules(calls: list[tuple[int, int, int | None, str]]) -> list[Fraction]:
    """Returns how long a request takes in each order of its calls, with all queues full, call by call."""
    lasts = [min(Fraction(most + 1, rate), Fraction(end or 10**6)) for rate, most, end, _ in calls]
    stages = [stage for *_, stage in calls]
    if any(stages):
        orders = [tuple(stage or f"alone {n}" for n, stage in enumerate(stages))]
    else:
        orders = [tuple(map(str, order)) for order in product(range(len(calls)), repeat=len(calls))]
    return [
        sum((max(t for t, s in zip(lasts, order, strict=True) if s == step) for step in set(order)), Fraction(0))
        for order in orders
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(calls=CALLS)
def test_calls_at_once_in_stages_and_without_an_order_take_what_their_schedules_take(
    calls: list[tuple[int, int, int | None, str]],
) -> None:
    text, times = fan(calls), schedules(calls)
    path = CallPaths(known(Subject(read_text(text, "d"), {"d": text}))).longest("users")
    assert path is not None
    assert (path.time, path.most) == (min(times), max(times))
    assert {queue.thing for queue in path.every} == {f"q{n}" for n in range(len(calls))}
    assert sum((queue.wait for queue in path.queues), Fraction(0)) <= path.time


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rate=st.integers(1, 9), most=st.integers(1, 40), each=st.integers(1, 9), tries=st.integers(2, 4))
def test_each_try_of_a_call_waits_again(rate: int, most: int, each: int, tries: int) -> None:
    """A try that fails for another reason takes any time within its limit: all of them are within the bound."""
    retried = f"on_timeout: cancel, per_try: {each} s, tries: {tries}"
    text = fan([(rate, most, None, "")]).replace("on_timeout: cancel", retried)
    path = CallPaths(known(Subject(read_text(text, "d"), {"d": text}))).longest("users")
    assert path is not None
    assert path.most is not None
    one = min(Fraction(most + 1, rate), Fraction(each))
    longest = max(sum(times) for times in product((Fraction(0), one, Fraction(each)), repeat=tries))
    assert path.most == longest == tries * each
    assert path.time <= longest


TEN = """coherence: 1
workload: {users: {rate: 20 req/s, deadline: 80 ms}}
components: {a: {copies: 1, rate_per_copy: 200 req/s}, b: {copies: 1, rate_per_copy: 100 req/s}}
limits:
  la: {counts: a.waiting, at_most: 90 req, when_full: reject}
  lb: {counts: b.waiting, at_most: 40 req, when_full: reject}
  few: {counts: users in flight, at_most: 10 req, when_full: reject}
calls: [{from: users, to: a, stage: one, on_timeout: abandon}, {from: users, to: b, stage: one, on_timeout: abandon}]
"""


def test_ten_in_flight_wait_at_the_slower_of_two_things_that_are_asked_at_once() -> None:
    """Full, `a` keeps a request longer; of ten in flight the last leaves it after 50 ms, and `b` after 100 ms."""
    (found,) = answers(TEN)
    assert found.verdict is Verdict.UNDECIDED
    (found,) = answers(TEN.replace("80 ms", "2 s"))
    assert (found.verdict, "2 queues are full" in found.message) == (Verdict.PROVED, True)
    assert "; beside these 400 ms at b" in found.message


def test_requests_that_wait_to_be_let_into_a_thing_that_is_asked_at_once_with_a_slower_one_are_asked_about() -> None:
    held = TEN.replace("80 ms", "2 s").replace("users in flight, at_most: 10 req, when_full: reject", "WAIT")
    (found,) = answers(held.replace("WAIT", "b in flight, at_most: 10 req, when_full: wait"))
    assert (found.verdict, "how long requests wait for few" in found.message) == (Verdict.UNDECIDED, True)


def test_a_call_that_gives_up_leaves_what_is_behind_it() -> None:
    """The caller waits 500 ms: 450 ms for the first queue, and 50 ms of the second one."""
    text = """coherence: 1
workload: {users: {rate: 20 req/s, deadline: 2 s}}
components: {a: {copies: 90, rate_per_copy: 10 req/s}, b: {copies: 1, rate_per_copy: 100 req/s}}
limits:
  la: {counts: a.waiting, at_most: 405 req, when_full: reject}
  lb: {counts: b.waiting, at_most: 90 req, when_full: reject}
calls: [{from: users, to: a, deadline: 500 ms, on_timeout: cancel}, {from: a, to: b}]
"""
    path = CallPaths(known(Subject(read_text(text, "d"), {"d": text}))).longest("users")
    assert path is not None
    assert [(queue.thing, queue.wait) for queue in path.queues] == [("a", Fraction(9, 20)), ("b", Fraction(1, 20))]
