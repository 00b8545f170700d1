"""What a conflict over loops and plants is certain of: every phase, order and value that the design leaves open."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.clock import now
from coherence.findings.question_input import details_unasked
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices
from coherence.verify.promises.certainty import DRAWN, MOST_CHOICES, POSSIBLE, certainty, open_choices
from coherence.verify.promises.decisions import Refuted, decide

TEXT = """
coherence: 1
components: {{tank: {{w: {w}, state: "x' = {law}", step: 1 s, from: {start}}}}}
loops:
  a: {{{rank}timescale: {{period: 2 s{phase}}}, trigger: {trigger}, actuation: {{signal: out.u, {law_of_a}, bounds: [0, 9], from: 0}}}}
{more}
promises: {{p: {promise}}}
"""  # noqa: E501
STATED = ", phase: 0 s"


def text_of(**given: str) -> str:
    default = {"w": "1", "law": "1 - x", "start": "0", "phase": "", "trigger": "x <= 0", "more": "", "rank": ""}
    return TEXT.format(**{**default, "law_of_a": "law: step, by: 1", "promise": "always out.u <= 0", **given})


def told(**given: str) -> tuple[bool, int]:
    model = elaborate(read_text(text_of(**given)))
    outcome = decide(model, model.promises["p"], time_limit=5)
    assert isinstance(outcome, Refuted)
    return outcome.certainty.certain, outcome.certainty.runs


def test_a_phase_that_is_not_stated_and_keeps_the_promise_makes_the_conflict_possible() -> None:
    assert told() == (False, 0)  # x is 0 at 0 s, 2 s, ... as sampled, and 1 at any other phase
    assert told(phase=STATED) == (True, 0)
    assert told(trigger="x <= 1") == (True, 0)  # at every phase


def test_an_order_of_equal_rank_that_keeps_the_promise_makes_the_conflict_possible() -> None:
    b = "  b: {{{}timescale: {{period: 2 s, phase: 0 s}}, trigger: a, actuation: {{signal: b.v, law: step, by: 1, bounds: [0, 9], from: 0}}}}"  # noqa: E501
    given = {"phase": STATED, "trigger": "x <= 0 and b.v < 1", "promise": "always b.v <= 0"}
    assert told(**given, more=b.format("")) == (True, 0)  # b reads that a is triggered, at once or a period later
    first = {**given, "promise": "never a and b.v > 0", "trigger": "x <= 0 and b.v < 1", "more": b.format("")}
    model = elaborate(read_text(text_of(**first)))
    assert len({one.order for one in (open_choices(model) or pytest.fail("too many")).choices}) == 2


CHAIN = """coherence: 1
components: {tank: {state: "x' = x + 1", step: 1 s, from: 0}}
loops:
  l1: {timescale: {period: 1 s, phase: 0 s}, actuation: {signal: a.u1, to: 1, bounds: [0, 9], from: 0}}
"""
LINK = "  l{0}: {{timescale: {{period: 1 s, phase: 0 s}}, actuation: {{signal: a.u{0}, to: a.u{1}, bounds: [0, 9], from: 0}}}}\n"  # noqa: E501


@pytest.mark.parametrize("loops", [4, 5, 9])
@pytest.mark.parametrize(("least", "certain"), [(1, False), (99, True)])
def test_of_more_loops_of_equal_rank_than_are_permuted_not_only_the_declared_order_is_run(
    loops: int, least: int, certain: bool
) -> None:
    """One after another they hand the 1 on within one instant; in the reverse order it takes one instant for each."""
    links = "".join(LINK.format(n, n - 1) for n in range(2, loops + 1))
    model = elaborate(read_text(f"{CHAIN}{links}promises: {{p: never x <= {least} and a.u{loops} == 1}}\n"))
    outcome = decide(model, model.promises["p"], time_limit=20)
    assert isinstance(outcome, Refuted)
    assert outcome.certainty.certain is certain
    assert bool(outcome.certainty.runs) is (certain and loops > 4)  # certain by some of the orders


def test_a_value_between_the_ends_that_keeps_the_promise_makes_the_conflict_possible() -> None:
    constant = {"law": "x", "phase": STATED, "promise": "always abs(x - 5) <= 4"}
    assert told(**constant, start="0 .. 10") == (False, 0)
    assert told(**constant, start="0 .. 0.5") == (True, 2 + DRAWN)  # its ends and so many values between


def test_a_conflict_of_which_not_every_value_was_run_says_so() -> None:
    model = elaborate(read_text(text_of(law="x", start="10 .. 11", phase=STATED, promise="always x <= 9")))
    outcome = decide(model, model.promises["p"], time_limit=5)
    assert isinstance(outcome, Refuted)
    assert outcome.certainty.assumptions == (
        "certain by 8 runs: not every value, phase and order that is left open was run",
    )


def test_what_varies_may_keep_a_promise_that_its_ends_break() -> None:
    moves = {"law": "w", "w": "{varies: 0 .. 1}", "phase": STATED, "promise": "always x <= 0"}
    assert told(**moves) == (False, 0)  # 0 for ever keeps it
    assert told(**{**moves, "promise": "always x < 0"})[0]


def test_choices_beyond_the_limit_are_not_all_run() -> None:
    many = ", ".join(f"w{n}: 0 .. 1" for n in range(10))
    law = " + ".join(f"w{n}" for n in range(10))
    text = text_of(phase=STATED).replace("w: 1,", f"{many},").replace("1 - x", law)
    model = elaborate(read_text(text))
    assert MOST_CHOICES < 2**10
    assert open_choices(model) is None
    assert not certainty(model, lambda _: 1, now() + 5).certain


def test_runs_that_take_long_to_break_it_leave_the_conflict_possible() -> None:
    model = elaborate(read_text(text_of()))

    def slow(_: Choices) -> int:
        return 15_000

    left_open = open_choices(model)
    assert left_open is not None
    assert left_open.exhaustive
    assert len(left_open.choices) == 4  # phases at 0, between 0 and 1, at 1 and between 1 and 2 s
    assert {one.phases["a"] for one in left_open.choices} == {Fraction(n, 2) for n in range(4)}
    assert not certainty(model, slow, now() + 5).certain
    assert certainty(model, lambda _: 1, now() + 5).certain


def test_while_an_edit_is_tried_no_conflict_is_looked_at_for_certainty() -> None:
    model = elaborate(read_text("coherence: 1\ncomponents: {x: {y: 1}}\n"))
    with details_unasked():
        assert certainty(model, lambda _: 1, now() + 5) == POSSIBLE
    assert certainty(model, lambda _: 1, now() + 5).certain
