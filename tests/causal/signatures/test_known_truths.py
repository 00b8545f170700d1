"""Each test of a signature on systems whose truth is known: its null is kept, its effect is seen."""

from __future__ import annotations

import pytest

from coherence.exploring.experiments import (
    asymmetry_drift,
    control_distortion,
    inaccessible_capacity,
    interactions,
    memory_path,
    migration,
)
from coherence.exploring.experiments.experiment import Experiment

FEW = 20
EXPERIMENTS = [
    asymmetry_drift.EXPERIMENT,
    control_distortion.EXPERIMENT,
    inaccessible_capacity.EXPERIMENT,
    interactions.EXPERIMENT,
    memory_path.EXPERIMENT,
    migration.EXPERIMENT,
]
SLOW = inaccessible_capacity.EXPERIMENT


@pytest.mark.parametrize(("experiment", "name"), [(own, name) for own in EXPERIMENTS for name in own.nulls])
def test_a_bottleneck_alone_is_none(experiment: Experiment, name: str) -> None:
    assert sum(signature.rejects for signature in experiment.signatures(name, FEW)) <= 1


@pytest.mark.parametrize(
    ("experiment", "name"),
    [
        pytest.param(own, name, marks=[pytest.mark.slow] if own is SLOW else [])
        for own in EXPERIMENTS
        for name in own.effects
    ],
)
def test_the_effect_is_seen(experiment: Experiment, name: str) -> None:
    assert sum(signature.rejects for signature in experiment.signatures(name, FEW)) >= FEW - 1
