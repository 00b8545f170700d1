"""Queue inflation beside runs of the same designs, and beside sums and departures on drawn chains."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction

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
    named = {"users sends users -> q1 from inside guest", "no place of q0 goes away", "no place of q1 goes away"}
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
