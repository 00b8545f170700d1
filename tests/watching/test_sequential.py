"""The detector: its mean time to a false alarm, its delay, and that an alarm ends."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest

from coherence.watching.sequential import CALM, Detector, e_value, rank_p_value


def test_evidence_of_a_uniform_p_value_is_one_on_average() -> None:
    shares = np.exp(-np.linspace(1e-6, 60, 400_001))  # p from 1 down to e^-60, where evidence falls as 1 / ln^2 p
    values = np.array([e_value(p) for p in shares.tolist()])
    mean = float(np.trapezoid(values * shares, -np.log(shares)))
    assert mean == pytest.approx(1 - 1 / 60, abs=2e-3)  # the mass below e^-60 is 1/60
    assert all(e_value(a) >= e_value(b) for a, b in zip([1e-9, 0.01, 0.3, 0.9], [0.01, 0.3, 0.9, 1.0], strict=True))


def test_a_p_value_is_the_rank_among_all() -> None:
    reference = np.array([(value, 0.0) for value in (1.0, 2.0, 3.0, 4.0)])
    assert rank_p_value(reference, 9.0, 0.0) == pytest.approx(1 / 5)
    assert rank_p_value(reference, 2.5, 0.0) == pytest.approx(3 / 5)
    assert rank_p_value(np.zeros((0, 2)), 9.0, 0.0) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("law", ["normal", "cauchy"])
def test_false_alarms_come_no_sooner_than_the_threshold_says(law: str) -> None:
    """60 runs of 500 exchangeable blocks at a threshold of 5,000: at most 500 / 5,000 of them may have an alarm."""
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(60):
        values = rng.normal(size=500) if law == "normal" else rng.standard_cauchy(500)
        detector = Detector(5_000.0)
        for value in values.tolist():
            detector = detector.after(value, 0.0)
            alarms += detector.active
            if detector.active:
                break
    assert alarms <= 11  # 6 expected at most; 12 or more come once in 70 tries


def through(detector: Detector, values: Iterable[float]) -> Detector:
    for value in values:
        detector = detector.after(value, 0.1)
    return detector


def test_a_rise_is_told_and_its_end_too() -> None:
    rng = np.random.default_rng(2)
    calm = through(Detector(1e5, 100), rng.normal(size=600).tolist())
    assert calm.active is False
    risen = through(calm, [6.0] * 8)
    assert risen.active is True
    later = through(risen, [6.0] * 50)
    assert later.active is True
    assert len(later.reference) == len(risen.reference)  # nothing of an alarm is learned
    over = through(later, rng.normal(size=4 * CALM).tolist())
    assert over.active is False
    assert math.isfinite(over.evidence)


def test_nothing_is_told_while_it_learns() -> None:
    detector = Detector(10.0, 50)
    for value in range(50):
        detector = detector.after(float(value), 0.0)
    assert detector.evidence == 0
