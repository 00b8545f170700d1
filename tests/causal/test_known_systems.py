"""The systems of known truth are the traps they claim to be, and the engine does not fall into them."""

from __future__ import annotations

import numpy as np
import pytest

from bench.known_systems import KnownSystem, autoregressive, known_systems
from coherence.causal.answers.intervals import Estimate
from coherence.causal.attribution.split import split
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import fit

SEEDS = 12


def biases(name: str, effect: str, column: tuple[str, int], truth: float) -> tuple[float, float]:
    """Mean error of a coefficient over seeds, in standard errors: by plain regression, by the engine."""
    errors = np.empty((SEEDS, 2))
    for seed in range(SEEDS):
        made = known_systems()[name](seed, 1500)
        found = fit(made.series, made.graph)
        plain = fit(made.series, made.graph, [Equation(effect, found.nodes[effect].equation.columns)])
        errors[seed] = [one.nodes[effect].coefficient(column) - truth for one in (plain, found)]
    misled, right = errors.mean(axis=0) / (errors.std(axis=0, ddof=1) / np.sqrt(SEEDS))
    return float(misled), float(right)


def shares(made: KnownSystem) -> dict[str, Estimate]:
    found = split(made.series, fit(made.series, made.graph), made.loss, constants=made.constants)
    return {share.cause: share.amount for share in found.attribution.shares}


def test_every_kind_of_the_table_is_there() -> None:
    assert set(known_systems()) == {
        "additive",
        "mediated",
        "confounded",
        "latent",
        "front_door",
        "instrument",
        "simpson",
        "lagged_feedback",
        "long_delay",
        "null",
        "collider",
        "retry_timeout",
        "collinear",
        "saturating_queue",
        "barrier_max",
        "direction",
        "simultaneous",
        "simultaneous_instrument",
        "missing_cause",
        "own_past",
        "feedback_alone",
    }  # fmt: skip  (a mechanism that changes needs two windows: `changing`)


def test_inputs_and_errors_remember() -> None:
    values = autoregressive(np.random.default_rng(0), 50_000, mean=3.0, size=2.0, rho=0.6)
    assert np.corrcoef(values[1:], values[:-1])[0, 1] == pytest.approx(0.6, abs=0.02)
    assert (values.mean(), values.std()) == (pytest.approx(3, abs=0.1), pytest.approx(2, abs=0.05))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "effect", "column", "truth"),
    [("lagged_feedback", "load", ("retries", 1), 0.6), ("own_past", "loss", ("loss", 1), 0.7),
     ("feedback_alone", "load", ("retries", 1), 0.6)],
)  # fmt: skip
def test_memory_in_a_circle_misleads_plain_regression_and_not_the_engine(
    name: str, effect: str, column: tuple[str, int], truth: float
) -> None:
    misled, right = biases(name, effect, column, truth)
    assert abs(misled) > 5
    assert abs(right) < 4


def test_simpson_turns_the_sign_and_the_engine_does_not() -> None:
    made = known_systems()["simpson"](1, 2000)
    assert made.more["naive slope"] > 1
    assert shares(made)["a"].value == pytest.approx(made.shares["a"], abs=0.3)
    assert made.shares["a"] < 0


@pytest.mark.slow
def test_independent_samples_would_blame_nulls() -> None:
    naive = robust = 0
    for seed in range(6):
        made = known_systems()["null"](seed, 2000)
        node = fit(made.series, made.graph).nodes["loss"]
        table = np.column_stack([np.ones(2000), made.series.values[:, :-1]])
        inverse = np.linalg.inv(table.T @ table)
        slopes = inverse @ table.T @ made.series["loss"]
        noise = np.var(made.series["loss"] - table @ slopes)
        naive += int((np.abs(slopes / np.sqrt(noise * np.diag(inverse)))[2:] > 1.96).sum())
        robust += sum(
            p <= 0.05 for (cause, _), p in zip(node.equation.columns, node.p.tolist(), strict=True) if cause != "a"
        )
    assert naive > 24  # of 120, where 6 are due
    assert robust < 16


def test_long_delays_are_found_among_the_declared_ones() -> None:
    made = known_systems()["long_delay"](1, 2000)
    assert fit(made.series, made.graph).nodes["loss"].equation.columns == (("a", 45), ("b", 0))


def test_what_has_no_declared_cause_is_the_remainder() -> None:
    made = known_systems()["missing_cause"](1, 3000)
    found = split(made.series, fit(made.series, made.graph), "loss").attribution
    assert found.unexplained.value == pytest.approx(made.remainder, abs=5 * found.unexplained.error)
    assert found.unexplained.value > found.shares[0].amount.value


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in known_systems() if known_systems()[name](0, 200).shares])
def test_intervals_cover(name: str) -> None:
    hits = []
    for seed in range(100):
        made = known_systems()[name](seed, 1500)
        found = shares(made)
        hits += [
            made.shares[cause] in found[cause] for cause in made.shares if cause in found and found[cause].error > 1e-9
        ]
    assert np.mean(hits) >= 0.90
