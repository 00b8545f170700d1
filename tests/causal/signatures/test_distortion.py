"""The test of distortion: its numbers by another way, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.signatures.distortion import distortion
from coherence.causal.signatures.signature import LEVEL
from coherence.exploring.experiments.control_distortion import EXPERIMENT

FEW = 20


def test_a_late_effect_is_a_delay_and_no_gain_that_varies() -> None:
    late = EXPERIMENT.signatures("one period of delay", FEW)
    assert all(own.parts["p delay"] < own.parts["p gain"] for own in late)
    assert sum(own.parts["p gain"] <= LEVEL for own in late) <= 1


def test_an_effect_that_obeys_exactly_is_no_distortion() -> None:
    commands = np.random.default_rng(1).standard_normal(40)
    assert distortion(commands, 0.5 * commands).p == 1.0


def test_commands_that_never_change_say_nothing() -> None:
    with pytest.raises(UsageError, match="not all alike"):
        distortion(np.ones(50), np.ones(50))


def test_a_ramp_of_commands_does_not_tell_a_delay_from_a_gain() -> None:
    with pytest.raises(UsageError, match="same amount"):
        distortion(np.arange(50.0), np.arange(50.0) + np.random.default_rng(1).standard_normal(50))
