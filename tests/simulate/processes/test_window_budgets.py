"""Limits of retries in a window as budgets of routes: a share or a number, and why one is not run."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.processes.flow import flow_of
from coherence.simulate.processes.routes import routes_of
from coherence.simulate.requests.program import PacedRetries

TEXT = """coherence: 1
workload: {{users: {{rate: 5 req/s}}}}
components: {{web: {{}}, db: {{}}}}
calls: [{{from: users, to: web, tries: 3{more}}}]
limits: {{b: {{{limit}, window: 10 s, when_full: reject}}}}
"""
GRANT = "a retry counts in b from its grant, and the window moves on by hundredths"


def kept(limit: str, more: str = "") -> tuple[PacedRetries | None, list[str]]:
    design, notes = read_text(TEXT.format(limit=limit, more=more)), list[str]()
    (route,) = routes_of(design, flow_of(design), notes, [])
    assert route.budget is None
    return route.paced, notes


@pytest.mark.parametrize(("limit", "more", "budget"), [
    ("counts: users.retries, at_most: 20", "", PacedRetries(10, floor=20)),
    ("counts: users.retries, at_most: 20 % of users.requests", "", PacedRetries(10, 0.2)),
    ("counts: users.retries, at_most: 20 % of users.first, but_at_least: 4", "", PacedRetries(10, 0.2, 4, "first")),
    ("counts: web.retries, at_most: 10 % of web.requests", ", budget: b", PacedRetries(10, 0.1)),
])  # fmt: skip
def test_a_limit_of_retries_in_a_window_is_kept(limit: str, more: str, budget: PacedRetries) -> None:
    assert kept(limit, more) == (budget, [GRANT])


@pytest.mark.parametrize(("limit", "more", "why"), [
    ("counts: users.retries, at_most: 20 % of web.requests", "", "neither a number nor a share"),
    ("counts: users.retries, at_most: 20, per: host", "", "per host"),
    ("counts: db.retries, at_most: 20", ", budget: b", "no end of users -> web"),
])  # fmt: skip
def test_what_cannot_be_kept_is_told(limit: str, more: str, why: str) -> None:
    budget, notes = kept(limit, more)
    assert budget is None
    assert why in notes[0]


def test_a_limit_that_nobody_names_holds_back_no_call_to_its_thing() -> None:
    assert kept("counts: web.retries, at_most: 20") == (None, [])
