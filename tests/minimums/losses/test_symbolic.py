"""A composition as one formula has the value of the composition, and can be derived by its symbols."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest
import sympy as sp

from coherence.base.errors import UsageError
from coherence.minimums.floors import Number
from coherence.minimums.losses.composition import KnownTerm, Leaf, Overlap, RepeatedTerm, Serial, Term, estimate
from coherence.minimums.losses.symbolic import composed_formula
from coherence.minimums.registry import entry


def leaf(name: str, inputs: Mapping[str, Number], within: str = "") -> Leaf:
    return Leaf(entry(name).bound, {symbol: (value, value) for symbol, value in inputs.items()}, within)


RING = {"n": 8, "size": 8 * 10**9, "bandwidth": 450 * 10**9}
GATHER, SCATTER = leaf("all_gather", RING, "weights"), leaf("reduce_scatter", {**RING, "n": 4}, "gradients")
WORK = leaf("compute_time", {"operations": 10**15, "units": 8, "peak": 989 * 10**12})
TERMS: tuple[Term, ...] = (
    GATHER,
    Serial((GATHER, SCATTER)),
    Overlap((WORK, Serial((GATHER, SCATTER)))),
    RepeatedTerm(WORK, KnownTerm(Fraction(3, 2), Fraction(3, 2), "tries")),
    Serial((WORK, KnownTerm(Fraction(1, 10), Fraction(1, 10), "start", unit="s"))),
)


@pytest.mark.parametrize("term", TERMS, ids=range(len(TERMS)))
def test_the_formula_has_the_value_of_the_composition(term: Term) -> None:
    made = composed_formula(term)
    at = {symbol: made.spans[symbol.name][0] for symbol in made.form.free_symbols}
    assert float(made.form.subs(at)) == pytest.approx(float(estimate(term).low), rel=1e-12)


def test_symbols_of_unlike_values_stay_apart_and_like_ones_are_one() -> None:
    made = composed_formula(Serial((GATHER, SCATTER)))
    assert set(made.spans) == {"n", "n_1", "size", "bandwidth"}
    bandwidth = sp.Symbol("bandwidth", positive=True)
    assert sp.simplify(made.form.diff(bandwidth) * bandwidth / made.form) == -1  # both parts are of the wire alone


def test_what_does_not_compose_and_what_has_no_formula_is_refused() -> None:
    with pytest.raises(UsageError, match="counted twice"):
        composed_formula(Serial((leaf("all_gather", RING), leaf("reduce_scatter", RING))))
    with pytest.raises(UsageError, match="no closed formula"):
        composed_formula(leaf("bins_needed", {"sizes": (1, 2), "capacity": 3}))  # type: ignore[dict-item]
