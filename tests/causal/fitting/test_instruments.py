from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.gram import Grams
from coherence.causal.fitting.graph import Influence
from coherence.causal.fitting.instruments import first_stage, weak
from tests.causal.systems import graph, table, wandering

WAYS = graph(Influence("u", "x"), Influence("u", "y"), Influence("x", "y"), Influence("z", "x"))


def system(strength: float, seed: int = 1) -> tuple[Grams, Equation]:
    rng = np.random.default_rng(seed)
    u, z = wandering(rng, 2000, 0.5), rng.standard_normal(2000)
    x = u + strength * z + rng.standard_normal(2000)
    y = 2 * x + 3 * u + rng.standard_normal(2000)
    fitted = fit(table(z=z, x=x, y=y), WAYS)
    return fitted.grams, fitted.nodes["y"].equation


def test_a_strong_instrument_is_used() -> None:
    grams, equation = system(1.0)
    assert equation.method == "instruments"
    assert not [*weak(grams, [equation])]


def test_a_weak_one_is_refused_with_its_figure() -> None:
    _, refused = system(0.01)
    assert refused.lost == (("x", 0),)
    assert "first-stage F" in refused.refused
    assert refused.measure


@pytest.mark.parametrize("seed", range(3))
def test_the_figure_is_the_textbook_f_of_one_instrument(seed: int) -> None:
    """One cause, one instrument: F = t^2 of the first-stage slope."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(500)
    x = 0.2 * z + rng.standard_normal(500)
    fitted = fit(table(z=z, x=x, y=x + rng.standard_normal(500)), WAYS)
    z, x = z[2:], x[2:]  # the first two have no past
    centred, moved = z - z.mean(), x - x.mean()
    slope = centred @ moved / (centred @ centred)
    noise = ((moved - slope * centred) ** 2).sum() / 496
    wanted = slope**2 * (centred @ centred) / noise
    assert first_stage(fitted.grams, Equation("y", (("x", 0),), (("z", 0),))) == pytest.approx(wanted, rel=1e-6)
