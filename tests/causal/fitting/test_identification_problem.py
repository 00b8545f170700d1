"""A problem of identification: what of a graph is seen, what is hidden above a signal, and delays as ranks."""

from __future__ import annotations

import pytest

from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.identification_problem import (
    IdentificationProblem,
    hidden_above,
    lasting_latents,
    observed_causes,
    posed,
    shortened_delays,
    with_real_delays,
)
from coherence.causal.fitting.trials import Edge
from tests.causal.systems import graph, late


def problem(text: str, seen: str, *, shortened: bool = False) -> IdentificationProblem:
    """`u>x x>y:2`: u acts on x within the step, x on y two steps later."""
    edges: list[Edge] = []
    for word in text.split():
        ends, _, lag = word.partition(":")
        cause, effect = ends.split(">")
        edges.append((cause, effect, int(lag or 0)))
    return posed(graph(*(late(*edge) for edge in edges)), tuple(edges), frozenset(seen.split()), shortened)


def test_observed_causes_have_their_delays_and_latent_ones_are_left_out() -> None:
    assert observed_causes(problem("u>y x>y:2 z>y", "x y z"), "y") == (("x", 2), ("z", 0))


@pytest.mark.parametrize(
    ("text", "seen", "hidden"),
    [
        ("u>y x>y", "x y", {"u"}),
        ("v>u u>y", "y", {"u", "v"}),
        ("v>x x>y", "x y", set()),  # what acts through an observed signal is not hidden above
        ("u>x:1 x>y", "x y", set()),
    ],
)
def test_latent_signals_above_reach_a_signal_through_latent_ones_alone(text: str, seen: str, hidden: set[str]) -> None:
    assert hidden_above(problem(text, seen), "y") == hidden


def test_a_cause_through_a_latent_signal_with_a_memory_lasts() -> None:
    assert lasting_latents(problem("x>m m>m:1 m>y z>y", "x y z"), "y") == {"x": ("m",)}
    assert lasting_latents(problem("x>m m>y", "x y"), "y") == {}


def test_long_delays_become_their_ranks() -> None:
    edges = (("a", "b", 30), ("b", "c", 7), ("c", "d", 30), ("d", "e", 0))
    assert shortened_delays(edges) == (("a", "b", 2), ("b", "c", 1), ("c", "d", 2), ("d", "e", 0))


def test_an_equation_found_with_ranks_gets_its_delays_back() -> None:
    long = (("x", "y", 30), ("z", "y", 7))
    short = problem("x>y:2 z>y:1", "x y z", shortened=True)
    equation = Equation("y", (("x", 2), ("z", 1)), controls=(("z", 0),))
    restored = with_real_delays(equation, short, long)
    assert restored.columns == (("x", 30), ("z", 7))
    assert restored.controls == (("z", 0),)
    assert with_real_delays(equation, problem("x>y:2 z>y:1", "x y z"), long) is equation
