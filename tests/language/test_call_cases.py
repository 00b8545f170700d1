"""Which calls are made at once, in turn, in a case or after a failure; and what cannot be meant."""

from __future__ import annotations

import pytest

from coherence.language import call_cases
from coherence.language.call_cases import cases_of_callers, is_conditional, render_order
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Reading
from tests.strategies import problems_in


def written(*calls: str) -> str:
    return "coherence: 1\ncalls:\n" + "".join(f"  - {{from: app, to: {call}}}\n" for call in calls)


def orders(*calls: str) -> dict[str, tuple[list[list[list[str]]], bool, bool]]:
    """Returns for each case the callees of its stages, whether all are made, and whether their order is said."""
    cases = cases_of_callers(read_text(written(*calls)))["app"]
    named = {
        case.name: [[[str(call.callee) for call in chain] for chain in stage] for stage in case.stages]
        for case in cases
    }
    return {case.name: (named[case.name], case.all_made, case.in_order) for case in cases}


def test_without_a_word_neither_the_order_nor_which_are_made_is_said() -> None:
    assert orders("a", "b") == {"": ([[["a"]], [["b"]]], False, False)}
    assert orders("a") == {"": ([[["a"]]], True, True)}


def test_calls_of_one_stage_are_made_at_once_and_stages_as_they_are_first_named() -> None:
    assert orders("a, stage: x", "b", "c, stage: y", "d, stage: x") == {
        "": ([[["a"], ["d"]], [["b"]], [["c"]]], True, True)
    }


def test_a_request_is_one_of_the_cases_and_a_call_without_one_is_in_each() -> None:
    assert orders("a", "b, case: hit", "c, case: [miss, stale]", "d, case: miss") == {
        "hit": ([[["a"]], [["b"]]], True, False),
        "miss": ([[["a"]], [["c"]], [["d"]]], True, False),
        "stale": ([[["a"]], [["c"]]], True, False),
    }


def test_fallbacks_follow_the_call_that_they_are_for() -> None:
    assert orders("a, case: hit", "c, fallback_for: b", "b, fallback_for: a", "d, case: miss") == {
        "hit": ([[["a", "b", "c"]]], True, True),
        "miss": ([[["d"]]], True, True),
    }


def test_what_a_call_says_of_its_order_is_written_for_people() -> None:
    design = read_text(written("a, stage: x, case: [hit, miss]", "b, fallback_for: a", "c"))
    assert [render_order(call) for call in design.calls] == ["stage x, in case hit or miss", "fallback for a", ""]
    assert [is_conditional(call) for call in design.calls] == [True, True, False]


@pytest.mark.parametrize(
    ("calls", "wrong", "remedy"),
    [
        (("a, case: hit", "b"), "'hit' is the only case of 'app'", "`case: [hit, miss]`"),
        (("store", "b, fallback_for: stoer"), "'app' does not call 'stoer'", "did you mean 'store'?"),
        (("a", "b, fallback_for: b"), "app -> b is a fallback of itself", "made first"),
        (("a, fallback_for: b", "b, fallback_for: a"), "app -> a is a fallback of itself", "made first"),
        (("a", "a", "b, fallback_for: a"), "calls 'a' 2 times", "two names"),
        (("a", "b, fallback_for: a", "c, fallback_for: a"), "has a fallback already: app -> b", "`fallback_for: b`"),
        (("a", "b, fallback_for: a, stage: x"), "in its stage and its cases", "remove `stage`"),
        (("a, case: x", "b, fallback_for: a, case: x", "c, case: y"), "in its stage and its cases", "remove `stage`"),
        (("a, stage: Two Words", "b"), "'Two Words' is not a name", "lower-case"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_an_error_with_a_remedy(calls: tuple[str, ...], wrong: str, remedy: str) -> None:
    problems = problems_in(lambda: read_text(written(*calls)))
    assert any(wrong in problem.message and remedy in problem.remedy for problem in problems)


def test_a_design_that_says_nothing_of_the_kind_has_no_problem() -> None:
    reading = Reading()
    call_cases.check(read_text(written("a", "a", "b")), reading)
    assert not reading.problems


WEIGHED = """coherence: 1
components:
  app: {cases: {a: %s, b: 1}}
  x: {}
  y: {}
calls: [{from: app, to: x, case: a}, {from: app, to: y, case: b}]
loops:
  shift: {trigger: always, timescale: {period: 1 s}, actuation: {signal: app.cases.%s, law: set, to: "2"%s}}
"""


@pytest.mark.parametrize(
    ("weight", "case", "bounds", "message"),
    [
        (
            "1 .. 9",
            "a",
            ", bounds: [1, 12]",
            "shift may write app.cases.a beyond the range that is stated of it, 1 .. 9",
        ),
        ("1 .. 9", "a", "", "shift may write app.cases.a beyond the range that is stated of it, 1 .. 9"),
        ("3", "a", ", bounds: [1, 9]", "shift may write app.cases.a beyond the range that is stated of it, 3"),
        (
            "1 .. 9",
            "a",
            ", from: 30, bounds: [1, 9]",
            "shift finds app.cases.a at 30, beyond the range that is stated of it, 1 .. 9",
        ),
        ("1 .. 9", "c", ", bounds: [1, 9]", "'app' has no weight of 'c'"),
    ],
)
def test_a_loop_writes_a_weight_that_is_there_within_its_range(
    weight: str, case: str, bounds: str, message: str
) -> None:
    assert [problem.message for problem in problems_in(lambda: read_text(WEIGHED % (weight, case, bounds)))] == [
        message
    ]


def test_a_weight_within_its_range_is_a_signal() -> None:
    assert not problems_in(lambda: read_text(WEIGHED % ("1 .. 9", "a", ", bounds: [1, 9]")))


def test_a_boundary_that_changes_what_is_written_is_not_read_of_a_weight() -> None:
    around = "infrastructure: {boundaries: {vms: {around: [app], gain: 50 %}}}\n"
    text = (WEIGHED % ("1 .. 9", "a", ", bounds: [1, 9]")).replace("components:", f"{around}components:")
    (problem,) = problems_in(lambda: read_text(text))
    assert problem.message == "vms changes what is written to app.cases.a, which is not read of a weight"
