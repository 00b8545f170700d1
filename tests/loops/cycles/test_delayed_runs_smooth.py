"""Runs of smooth delay equations against the method of steps by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.loops.cycles.delayed_runs_smooth import HUGE, Smooth, accurate, many
from coherence.loops.cycles.relay import Array


def late(now: Array, past: Array) -> Array:
    return -past + 0 * now


def decay(now: Array, past: Array) -> Array:
    return -now + 0 * past


def by_steps(t: float) -> float:
    """x' = -x(t - 1), x = 1 before 0: 1 - t, then + (t - 1)^2 / 2, then - (t - 2)^3 / 6."""
    terms = [max(t - k, 0) ** (k + 1) / math.factorial(k + 1) * (-1) ** (k + 1) for k in range(4)]
    return float(1 + sum(terms))


def test_a_delay_equation_is_its_method_of_steps() -> None:
    run = many(Smooth(late, 1, 1.0), np.array([[1.0, 2.0]]), step=0.05, steps=60)
    assert run.shape == (61, 1, 2)
    for k in (10, 20, 30, 60):
        assert run[k, 0, 0] == pytest.approx(by_steps(0.05 * k), abs=2e-6)
        assert run[k, 0, 1] == pytest.approx(2 * by_steps(0.05 * k), abs=4e-6)


def test_without_delay_the_order_is_four() -> None:
    errors = [
        abs(many(Smooth(decay, 1), np.array([[1.0]]), step=1 / n, steps=n)[-1, 0, 0] - math.exp(-1)) for n in (8, 16)
    ]
    assert errors[0] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.15)


def test_an_explosion_is_cut_off_and_not_infinite() -> None:
    run = many(Smooth(lambda now, _past: 1e6 * now, 1), np.array([[1.0]]), step=1.0, steps=5)
    assert np.isfinite(run).all()
    assert run[-1, 0, 0] >= HUGE / 2


def test_an_accurate_run_ends_its_pieces_where_the_delay_has_passed() -> None:
    pieces = accurate(Smooth(late, 1, 1.0), lambda _time: np.array([1.0]), 2.5)
    assert [(begin, end) for begin, end, _ in pieces] == [(0.0, 1.0), (1.0, 2.0), (2.0, 2.5)]
    for begin, end, curve in pieces:
        middle = (begin + end) / 2
        assert curve(middle)[0] == pytest.approx(by_steps(middle), abs=1e-9)
