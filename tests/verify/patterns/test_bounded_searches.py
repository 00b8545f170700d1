"""A question that does not look at all pairs, sets or counts says so, and how far it looked."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from coherence.findings.finding import Finding
from coherence.verify.patterns.limits import _withheld, removal_cascade
from coherence.verify.patterns.promises import unsatisfiable_targets
from coherence.verify.patterns.writers import order_dependent
from tests.case_files import CASES, cases, findings_of


def bounds(findings: Iterable[Finding], code: str) -> list[str]:
    """Returns the bounds of the undecided answers of a question that were bounded."""
    return [f.evidence.bound for f in findings if f.code == code and f.verdict == "undecided" and f.evidence.bound]


def marked(code: str, verdict: str) -> str:
    """Returns the text of the first case in which a question gives this verdict."""
    return next(c.text for c in cases(CASES) if any((m.code, m.verdict) == (code, verdict) for m in c.expected))


def stepping(count: int) -> str:
    loops = "".join(
        f"  l{i}: {{trigger: pool.size > {i}, actuation: {{signal: pool.wanted, law: step, by: 1, bounds: [0, 9]}}}}\n"
        for i in range(count)
    )
    return f"coherence: 1\ncomponents: {{pool: {{size: 1 .. 5}}}}\nloops:\n{loops}"


def capped(count: int) -> str:
    limits = "".join(f"  l{i}: {{counts: pool.size, at_most: {i + 5}, when_full: reject}}\n" for i in range(count))
    return f"coherence: 1\ncomponents: {{pool: {{size: 1 .. 5}}}}\nlimits:\n{limits}"


@pytest.mark.slow
@pytest.mark.parametrize("code", ["COH230", "COH232"])
@pytest.mark.parametrize(("count", "expected"), [(63, []), (64, ["2000 pairs"])])
def test_pairs_of_loops_on_one_signal_are_counted(code: str, count: int, expected: list[str]) -> None:
    assert bounds(findings_of(stepping(count), repairs=False), code) == expected


@pytest.mark.parametrize(("count", "expected"), [(28, []), (29, ["400 pairs"])])
def test_pairs_of_limits_of_one_scope_are_counted(count: int, expected: list[str]) -> None:
    assert bounds(findings_of(capped(count), repairs=False), "COH213") == expected


@pytest.mark.slow
def test_a_pair_whose_order_was_not_tried_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = marked("COH234", "conflict")
    assert not bounds(findings_of(text, repairs=False), "COH234")
    monkeypatch.setattr(order_dependent, "MOST_PAIRS", 0)
    assert bounds(findings_of(text, repairs=False), "COH234") == ["0 pairs"]


def test_demands_that_are_too_many_to_be_searched_together_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = marked("COH231", "conflict")
    assert not bounds(findings_of(text, repairs=False), "COH231")
    monkeypatch.setattr(unsatisfiable_targets, "MOST", 1)
    assert bounds(findings_of(text, repairs=False), "COH231") == ["1 demands"]


@pytest.mark.parametrize(("cap", "bound"), [("MOST_SETS", "0 sets"), ("MOST_LOOKS", "0 sets")])
def test_sets_of_demands_that_are_not_reported_or_not_looked_at_are_named(
    monkeypatch: pytest.MonkeyPatch, cap: str, bound: str
) -> None:
    monkeypatch.setattr(unsatisfiable_targets, cap, 0)
    assert bounds(findings_of(marked("COH231", "conflict"), repairs=False), "COH231") == [bound]


WITHHELD = """
coherence: 1
components: {web: {copies: 10 .. 30, failing: 2}}
loops:
  probe: {target: {signal: web.failing}, trigger: web.failing > 0, actuation: {signal: web.ejected, law: step, by: 1}}
  eject: {target: {signal: web.failing}, trigger: web.failing > 1, actuation: {signal: web.ejected, law: step, by: 1}}
limits: {cap: {counts: web.ejected, at_most: 50 % of web.copies}}
"""


def test_a_range_of_members_that_is_cut_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not bounds(findings_of(WITHHELD, repairs=False), "COH240")
    monkeypatch.setattr(_withheld, "MOST_MEMBERS", 5)
    assert bounds(findings_of(WITHHELD, repairs=False), "COH240") == ["5"]


@pytest.mark.parametrize(("most", "expected"), [(20, []), (19, ["19 members", "19 members"])])
def test_a_cap_on_members_of_too_wide_a_range_is_asked_about(
    monkeypatch: pytest.MonkeyPatch, most: int, expected: list[str]
) -> None:
    text = WITHHELD + "workload: {requests: {rate: 300 req/s}}\n"
    text = text.replace("failing: 2", "failing: 2, load: requests.rate, rate_per_replica: 60 req/s")
    monkeypatch.setattr(removal_cascade, "MOST_MEMBERS", most)
    assert bounds(findings_of(text, repairs=False), "COH240") == expected
