"""Workloads as sources: rates, kinds of arrivals, bursts, and what is told of ranges."""

from __future__ import annotations

import pytest

from coherence.base.errors import Problem
from coherence.language.reading import read_text
from coherence.simulate.processes.flow import flow_of
from coherence.simulate.processes.numbers import lower
from coherence.simulate.processes.sources import sources_of
from coherence.simulate.requests.program import Arrivals, RateBurst, Source

TEXT = """coherence: 1
workload: {{users: {{rate: {rate}{more}}}}}
components: {{web: {{}}}}
calls: [{{from: users, to: web}}]
"""


def source(rate: str = "5 req/s", more: str = "") -> tuple[Source, list[str], list[Problem]]:
    design, notes, problems = read_text(TEXT.format(rate=rate, more=more)), list[str](), list[Problem]()
    (made,) = sources_of(design, flow_of(design), notes, problems, first_burst=60.0)
    return made, notes, problems


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", Arrivals(rate=5.0)),
        (", arrivals: regular", Arrivals("regular", 5.0)),
        (", arrivals: poisson", Arrivals("poisson", 5.0)),
        (", arrivals: {cv: 2}", Arrivals("gamma", 5.0, 2.0)),
        (", arrivals: {cv: 0}", Arrivals("regular", 5.0, 0.0)),
        (
            ", arrivals: {switches: [{rate: 1 req/s, lasts: 30 s}, {rate: 9 req/s, lasts: 10 s}]}",
            Arrivals("mmpp", states=((1.0, 30.0), (9.0, 10.0))),
        ),
        (
            ", burst: {rate: 50 req/s, lasts: 10 s, every: 5 min}",
            Arrivals(rate=5.0, bursts=(RateBurst(50.0, 60.0, 10.0, 300.0),)),
        ),
        (", burst: {rate: 50 req/s, lasts: 10 s}", Arrivals(rate=5.0, bursts=(RateBurst(50.0, 60.0, 10.0, 0.0),))),
    ],
)
def test_arrivals_are_as_stated_and_poisson_without_a_word(more: str, expected: Arrivals) -> None:
    made, notes, problems = source(more=more)
    assert made == Source("users", expected, (("users -> web",),))
    assert problems == []
    assert ("requests of users arrive one by one at random (Poisson)" in notes) is ("arrivals" not in more)
    assert ("the first burst of users begins at 60 s" in notes) is ("burst" in more)


def test_a_range_is_run_at_its_lower_end_and_it_is_told() -> None:
    made, notes, _ = source("5 req/s .. 8 req/s")
    assert made.arrivals.rate == 5
    assert notes[0] == "users.rate = 5 req/s, the lower end of 5 req/s .. 8 req/s"
    told: list[str] = []
    exact = read_text(TEXT.format(rate="5 req/s", more="")).workload["users"].rate
    assert exact is not None
    assert lower(exact, "x", told) == 5
    assert told == []


def test_no_arrivals_are_a_problem() -> None:
    _, _, (problem,) = source("0 req/s")
    assert problem.message == "users has no arrivals"


def test_requests_to_the_component_of_their_own_name_are_not_run_past_it() -> None:
    things = "components: {web: {copies: 2}, db: {copies: 1}}, calls: [{from: web, to: db}]"
    text = "{coherence: 1, workload: {web: {rate: 5 req/s}}, " + things + "}"
    design, problems = read_text(text, "d"), list[Problem]()
    sources_of(design, flow_of(design), [], problems, first_burst=1.0)
    assert "`calls: [{from: users, to: web}]`" in problems[0].remedy
