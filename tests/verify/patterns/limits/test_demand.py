"""Repairs of a limit that a loop may exceed: the limit moves to the worst count, or the loop stops at the limit."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.findings.repairs import apply
from coherence.language.reading import read_text
from coherence.verify.patterns.limits import limit_against_demand


def repaired(body: str) -> list[str]:
    """Returns the designs after each repair, without the first line."""
    text = f"coherence: 1\n{body}\n"
    (finding,) = limit_against_demand.ask(Subject(read_text(text, "d"), {"d": text}))
    changed = [apply(repair.edits, {"d": text}) for repair in finding.repairs]
    return [one["d"].removeprefix("coherence: 1\n").rstrip() for one in changed if one is not None]


LOOP = "loops: {grow: {timescale: {period: 1 s}, trigger: x.y > 1, actuation: {signal: pool.size, %s, from: 0}}}\n"
CAP = "limits: {cap: {counts: pool.size, at_most: 8}}"


@pytest.mark.parametrize(
    ("written", "less"),
    [
        ("law: set, to: 12", "law: set, to: 8"),
        ("law: step, by: 1, bounds: [0, 12]", "law: step, by: 1, bounds: [0, 8]"),
    ],
)
def test_the_only_loop_that_writes_the_count_may_stop_at_the_limit(written: str, less: str) -> None:
    assert repaired(LOOP % written + CAP) == [
        LOOP % written + CAP.replace("8", "12"),
        LOOP % less + CAP,
    ]


def test_where_two_loops_write_it_neither_is_chosen() -> None:
    second = LOOP.strip().removeprefix("loops: {").removesuffix("}").replace("grow", "more")
    both = (LOOP % "law: set, to: 12").replace("}}}\n", "}}, " + second % "law: set, to: 11" + "}\n")
    assert repaired(both + CAP) == [both + CAP.replace("8", "12")]


def test_a_count_that_no_loop_writes_moves_the_limit_alone() -> None:
    body = "components: {a: {n: 9}}\nlimits: {cap: {counts: a.n, at_most: 8}}"
    assert repaired(body)[0] == body.replace("8", "9")
