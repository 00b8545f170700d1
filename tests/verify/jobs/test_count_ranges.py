"""How many members and places there may be, and verdicts for every number of them."""

from __future__ import annotations

import pytest

from coherence.base.places import Place
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.jobs.count_ranges import (
    PlaceVerdicts,
    adders,
    count_range,
    render_verdicts,
    summary,
    swept_nodes,
    variants,
)
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.placement import CERTAIN, NONE, POSSIBLE
from coherence.verify.jobs.sites import cluster

HERE = Place("<design>", 1, 1, 1, 1)
SCALED = """coherence: 1
components: {{web: {{cpu: {cpu}}}}}
loops:
  hpa:
    uses: kubernetes_hpa
    target: {{signal: web.cpu, setpoint: 50 %, tolerance: {slack}}}
    actuation: {{signal: web.desired, bounds: [{low}, {high}], from: {first}}}
"""


def facts(text: str) -> DesignFacts:
    return known(Subject(read_text(text), {"<design>": text}))


def scaled(cpu: str, *, slack: str = "10 %", low: str = "2", high: str = "9", first: str = "4") -> str:
    return SCALED.format(cpu=cpu, slack=slack, low=low, high=high, first=first)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coherence: 1\ncomponents: {web: {copies: 3}}", (3, 3)),
        ("coherence: 1\ncomponents: {web: {copies: 2 .. 7}}", (2, 7)),
        # from 4: up only above 55 %, down only below 45 %
        (scaled("10 % .. 90 %"), (2, 9)),
        (scaled("45 % .. 90 %"), (4, 9)),
        (scaled("44 % .. 90 %"), (2, 9)),
        (scaled("10 % .. 55 %"), (2, 4)),
        (scaled("10 % .. 56 %"), (2, 9)),
        (scaled("50 %"), (4, 4)),
        (scaled("50 % .. 53 %", slack="5 %"), (4, 9)),
        (scaled("10 % .. 90 %", first="20"), (2, 9)),
        (scaled("50 %", first="20"), (9, 9)),
        (scaled("50 %", first="1"), (2, 2)),
        (scaled("50 %", first="3 .. 4"), (2, 9)),  # no one start
    ],
)
def test_an_autoscaler_reaches_what_its_signal_lets_it(text: str, expected: tuple[int, int]) -> None:
    assert count_range(facts(text), "web", 100, HERE) == expected


def test_numbers_that_are_not_stated_or_too_large_are_asked_for() -> None:
    with pytest.raises(NeedsError, match="copies of web"):
        count_range(facts("coherence: 1\ncomponents: {web: {}}"), "web", 100, HERE)
    text = "coherence: 1\ncomponents: {web: {copies: 2 .. 7}}"
    assert count_range(facts(text), "web", 7, HERE) == (2, 7)
    with pytest.raises(NeedsError, match="at most 6 copies of web: 7"):
        count_range(facts(text), "web", 6, HERE)


PLACES = """coherence: 1
components: {{web: {{copies: 1 .. 3}}}}
places: {{{places}}}
placement: {{web: [spread by node <= 1]}}
{loops}"""


def of_places(places: str, loops: str = "") -> str:
    return PLACES.format(places=places, loops=f"loops: {{{loops}}}\n" if loops else "")


@pytest.mark.parametrize(
    ("loops", "expected"),
    [
        ("", None),
        ("grow: {actuation: {signal: node.count, law: step, by: 1}}", "grow"),
        ("grow: {actuation: {signal: nodes.count, law: step, by: 1}}", "grow"),
        ("grow: {actuation: {signal: n1.count, law: step, by: 1, bounds: [2, 4]}}", None),  # says which places
        ("grow: {actuation: {signal: web.desired, law: step, by: 1}}", None),
    ],
)
def test_a_loop_that_adds_places_of_no_stated_kind_is_named(loops: str, expected: str | None) -> None:
    known_facts = facts(of_places("n1: {zone: a, count: 2}, n2: {zone: b, count: 1}", loops))
    assert adders(known_facts, cluster(known_facts, "web")) == expected


def test_each_value_of_each_stated_range_is_a_variant() -> None:
    text = of_places("n1: {count: 1 .. 2}, n2: {count: 3}, n3: {count: 4 .. 6}")
    assert variants(facts(text)) == [{"n1": a, "n3": b} for a in (1, 2) for b in (4, 5, 6)]
    assert variants(facts(of_places("n1: {count: 3}"))) == [{}]
    assert len(variants(facts(of_places("n1: {count: 1 .. 100}")))) == 100
    with pytest.raises(NeedsError, match="a narrower count of n1"):
        variants(facts(of_places("n1: {count: 1 .. 101}")))


def test_every_number_of_places_of_a_kind_has_its_verdict() -> None:
    # three members, one for each node more at most: one node takes all; so do two of the same room
    known_facts = facts(of_places("n1: {count: 2}, n2: {}"))
    there = cluster(known_facts, "web")
    (swept,) = swept_nodes(known_facts, there, 1, 3)
    assert swept.name == "n1"
    assert [number for number, _ in swept.verdicts] == list(range(1, 51))
    assert {verdict for _, verdict in swept.verdicts} == {NONE}


def test_runs_of_equal_verdicts_are_told_together() -> None:
    told = [(1, CERTAIN), (2, CERTAIN), (3, POSSIBLE), (4, NONE), (5, NONE)]
    assert render_verdicts(told) == (
        "conflict at 1 to 2, conflict by some choices at 3, none at 4 to 5 (checked up to 5)"
    )
    assert render_verdicts(told, saturated=True) == (
        "conflict at 1 to 2, conflict by some choices at 3, none at 4 and above"
    )
    assert render_verdicts([(7, NONE)]) == "none at 7 (checked up to 7)"
    assert render_verdicts([]) == ""


def test_a_summary_names_each_kind_that_has_verdicts() -> None:
    kinds = [PlaceVerdicts("a", ((1, NONE),)), PlaceVerdicts("b", ()), PlaceVerdicts("c", ((1, CERTAIN), (2, NONE)))]
    assert summary(kinds) == ("; a: none at 1 (checked up to 1); c: conflict at 1, none at 2 (checked up to 2)")
    assert summary([]) == ""
