"""Why a coefficient is not identified, in words, and what to measure where no latent signal would help."""

from __future__ import annotations

import pytest

from coherence.causal.fitting.refusals import other_help, reason
from tests.causal.fitting.test_identification_problem import problem


@pytest.mark.parametrize(
    ("text", "seen", "lost", "words"),
    [
        ("u>x u>y x>y", "x y", ["x"], "x and y have a common cause that is not measured: u"),
        (
            "x>y y>x",
            "x y",
            ["x"],
            "x and y act on each other within one step: which moved first cannot be seen",
        ),
        (
            "x>m z>m m>m:1 m>y",
            "x z y",
            ["x", "z"],
            "x and z act on y through m, which is not measured and keeps its past",
        ),
        ("x>y z>y", "x y z", ["x"], "x cannot be told apart from what else acts on y"),
        ("y>y:1 x>y", "x y", ["y"], "what y keeps of its past and what keeps acting on it look alike"),
    ],
)
def test_each_kind_of_trouble_has_its_clause(text: str, seen: str, lost: list[str], words: str) -> None:
    assert reason(problem(text, seen), "y", [(name, 0) for name in lost]) == words


def test_several_troubles_are_all_named() -> None:
    words = reason(problem("u>x u>y x>y z>y y>z", "x y z"), "y", [("x", 0), ("z", 0)])
    assert words.split("; ") == [
        "z and y act on each other within one step: which moved first cannot be seen",
        "x and y have a common cause that is not measured: u",
    ]


def test_signals_that_act_on_each_other_are_to_be_read_more_often() -> None:
    finer, beside = other_help(problem("x>y y>x", "x y"), "y", [("x", 0)])
    assert finer == "x and y at a finer step, more often than they act on each other"
    assert beside == "something that acts on x and not on y"


def test_else_something_that_acts_through_the_cause_alone() -> None:
    assert other_help(problem("x>y z>y", "x y z"), "y", [("x", 0)]) == (
        "something that acts on x, and on y through it alone",
    )
