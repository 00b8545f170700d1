"""Inaccessible capacity beside every placement on a line of tiers, counted link by link without the engine."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coherence.checking.repair.rechecks import gone
from coherence.findings import repairs
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.placement.inaccessible_capacity import absences, ask

LINES = st.fixed_dictionaries({
    "rate": st.integers(1, 6),
    "counts": st.lists(st.integers(2, 6), min_size=2, max_size=3),
    "links": st.lists(st.integers(1, 12), min_size=2, max_size=2),
    "pools": st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), min_size=2, max_size=3),
    "sizes": st.lists(st.integers(1, 5), min_size=2, max_size=2),
})  # fmt: skip
Line = dict[str, object]


def text_of(rate: int, counts: list[int], links: list[int], pools: list[tuple[int, int]], sizes: list[int]) -> str:
    """Returns a design of tiers in a line, and pools that call each other in order."""
    tiers = ", ".join(f"t{n}: {{count: {count}}}" for n, count in enumerate(counts))
    lines = "".join(f"    - {{ends: [t{n}, t{n + 1}], bandwidth: {links[n]} GB/s}}\n" for n in range(len(counts) - 1))
    things = "".join(
        f"  p{n}: {{runs_on: t{at}, copies: {many}, rate_per_copy: 100 req/s}}\n" for n, (at, many) in enumerate(pools)
    )
    calls = "".join(f"  - {{from: p{n}, to: p{n + 1}, carries: {sizes[n]} GB}}\n" for n in range(len(pools) - 1))
    return (
        f"coherence: 1\nworkload: {{r: {{rate: {rate} req/s}}}}\ninfrastructure:\n  tiers: {{{tiers}}}\n  links:\n"
        f"{lines}components:\n{things}calls:\n  - {{from: r, to: p0}}\n{calls}"
    )


def fullest(places: tuple[int, ...], rate: int, links: list[int], sizes: list[int]) -> Fraction:
    """Returns the largest load of one way of a link where pools stand so."""
    loads: dict[tuple[int, bool], Fraction] = {}
    for size, (start, end) in zip(sizes, itertools.pairwise(places), strict=False):
        for link in range(min(start, end), max(start, end)):
            key = link, start < end
            loads[key] = loads.get(key, Fraction(0)) + Fraction(rate * size, links[link])
    return max(loads.values(), default=Fraction(0))


def answers(text: str) -> list[Finding]:
    """Returns what is answered about a text."""
    return list(ask(Subject(read_text(text, "d"), {"d": text})))


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(line=LINES)
def test_the_verdict_is_that_of_every_placement(line: Line) -> None:
    rate, counts, links, sizes = (line[key] for key in ("rate", "counts", "links", "sizes"))
    assert isinstance(rate, int)
    assert isinstance(counts, list)
    assert isinstance(links, list)
    assert isinstance(sizes, list)
    pools = [(at % len(counts), many) for at, many in line["pools"]]  # type: ignore[attr-defined]
    now = tuple(at for at, _ in pools)
    text = text_of(rate, counts, links, pools, sizes)
    fitting = [
        places
        for places in itertools.product(range(len(counts)), repeat=len(pools))
        if all(sum(m for p, (_, m) in zip(places, pools, strict=True) if p == t) <= c for t, c in enumerate(counts))
    ]
    others = [fullest(places, rate, links, sizes) for places in fitting if places != now]
    load, found = fullest(now, rate, links, sizes), answers(text)
    if now not in fitting and load > 1:
        (finding,) = found
        assert finding.verdict is Verdict.UNDECIDED
        return
    if load > 1 and (not others or min(others) >= load):
        assert [finding.verdict for finding in found] == [Verdict.NOTE]
        return
    if not others or load == 0:
        assert found == []
        return
    (finding,) = found
    assert finding.verdict is (Verdict.CONFLICT if load > 1 else Verdict.PROVED)
    assert finding.evidence.numbers["load"][0] == load
    if load > 1:
        reached = finding.evidence.numbers["reached elsewhere"][0]
        assert (reached == 1) == (min(others) <= 1)
        for repair in finding.repairs:
            text = repairs.applied(repair.edits, {"d": text})["d"]
            (again,) = answers(text) or list(absences(Subject(read_text(text, "d"), {"d": text})))
            assert again.verdict is Verdict.PROVED


def test_a_cut_says_that_no_other_route_would_do() -> None:
    text = text_of(4, [4, 4], [10, 1], [(0, 2), (1, 2)], [5, 1])
    (finding,) = answers(text)
    assert finding.evidence.numbers["cut: to pass"][0] == 20 * 10**9
    assert finding.evidence.numbers["cut: carried"][0] == 10 * 10**9
    assert "no other routes would do" in finding.evidence.witness[0].text


def test_an_edit_after_which_members_do_not_fit_disproves_nothing() -> None:
    text = text_of(4, [4, 4, 4], [10, 12], [(1, 4), (0, 4)], [5])
    (conflict,), (after,) = answers(text), answers(text.replace("t0, copies: 4", "t0, copies: 5"))
    assert (conflict.verdict, after.verdict) == (Verdict.CONFLICT, Verdict.UNDECIDED)
    assert set(conflict.of) <= set(after.of)
    assert not gone(conflict, [after])


SCALED = """coherence: 1
workload: {r: {rate: 40 req/s}}
infrastructure:
  tiers: {east: {count: 16}, west: {count: 8}}
  links: [{ends: [east, west], bandwidth: 100 GB/s}]
components:
  prefill: {runs_on: east, rate_per_copy: 12 req/s}
  decode: {runs_on: west, copies: 4, rate_per_copy: 12 req/s}
calls: [{from: r, to: prefill}, {from: prefill, to: decode, carries: 500 MB}]
"""
LOOP = """loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: prefill.cpu, setpoint: 70 %}
    actuation: {signal: prefill.copies, bounds: [1, 8]}
"""


def test_a_scaled_pool_is_taken_to_have_what_its_loop_may_give_it() -> None:
    words = "prefill has the 8 members that hpa may give it"
    stated = SCALED.replace("runs_on: east,", "runs_on: east, copies: 8,")
    for text, assumed in ((SCALED + LOOP, True), (stated, False)):
        (found,) = ask(Subject(read_text(text, "d"), {"d": text}))
        assert found.verdict is Verdict.PROVED
        assert (words in found.assumptions) is assumed


def test_members_that_do_not_fit_are_named_and_no_others() -> None:
    text = text_of(3, [8, 4, 4], [1, 12], [(0, 8), (1, 5)], [1])
    subject = Subject(read_text(text, "d.yaml"), {"d.yaml": text}, 20.0)
    (finding,) = ask(subject)
    assert finding.verdict is Verdict.UNDECIDED
    assert finding.message == "needs 5 devices of t1 for what runs there: it has 4"
    assert finding.of == ("p0 -> p1", "p1")
