"""What is laid beside equations: faults of form are found with their term, and none is where there is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from coherence.causal.data.series import Floats
from coherence.causal.session.specification import Specification
from tests.causal.sections.contexts import context
from tests.causal.systems import wandering

DESIGN = """coherence: 1
components: {job: {loss: src.a * k + src.b * m, k: -100 .. 100, m: -9 .. 9}}
"""
Truth = Callable[[Floats, Floats], Floats]
TRUTHS: dict[str, tuple[Truth, str]] = {
    "late": (lambda a, b: 2 * np.roll(a, 3) + 0.5 * b, "delayed(src.a, 30 s)"),
    "square": (lambda a, b: a * a + 0.5 * b, "src.a * src.a"),
    "hinge": (lambda a, b: 2 * np.maximum(a - 3.5, 0) + 0.5 * b, "max(src.a - "),
    "together": (lambda a, b: a * b, "src.a * src.b"),
}


def specified(truth: Truth, seed: int, *, rows: int = 1000, memory: float = 0.6) -> Specification:
    rng = np.random.default_rng(seed)
    a, b, own = (wandering(rng, rows, memory, 1) for _ in range(3))
    signals = {"src.a": a + 3, "src.b": b + 3, "job.loss": truth(a + 3, b + 3) + own}
    return context(DESIGN, signals).specification


@pytest.mark.parametrize("name", TRUTHS)
def test_each_fault_is_found_with_the_term_that_repairs_it(name: str) -> None:
    truth, term = TRUTHS[name]
    for seed in range(3):
        first = specified(truth, seed).misfits[0]
        assert first.term.startswith(term)
        assert first.low < first.slope < first.high


@pytest.mark.parametrize("memory", [0.0, 0.6, 0.95])
def test_a_straight_line_at_its_delay_lacks_nothing(memory: float) -> None:
    told = [specified(lambda a, b: 2 * a + 0.5 * b, seed, memory=memory) for seed in range(4)]
    assert [one.misfits for one in told] == [()] * 4
    assert all(one.tests == 23 for one in told)  # by hand: 2 x (6 delays, a square, 4 hinges) and one product


def test_what_is_bent_by_its_declaration_is_named_as_not_tested() -> None:
    rng = np.random.default_rng(1)
    a = wandering(rng, 500, 0.6, 1)
    bent = "coherence: 1\ncomponents: {job: {loss: 'max(src.a - 1, 0) * k', k: 0 .. 10}}\n"
    specification = context(bent, {"src.a": a, "job.loss": np.maximum(a - 1, 0) + rng.normal(size=500)}).specification
    assert (specification.tests, specification.untested) == (0, ("job.loss",))


def test_counts_of_requests_have_no_declared_form() -> None:
    """What is served bends where all servers are busy; the design never said that it is a line."""
    rng = np.random.default_rng(1)
    busy = 4 + wandering(rng, 1000, 0.6, 1)
    calls = "coherence: 1\ncomponents: {app: {}, db: {}}\ncalls: [{from: app, to: db}]\n"
    served = np.minimum(busy, 4.0) + 0.1 * rng.normal(size=1000)
    signals = {"db.queue": np.zeros(1000), "db.busy": busy, "db.served": served}
    assert context(calls, signals).specification.misfits == ()
