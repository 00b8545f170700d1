"""Control distortion: 300 commands across a boundary, and what came of each."""

from __future__ import annotations

from functools import partial

import numpy as np

from coherence.causal.signatures.distortion import distortion
from coherence.causal.signatures.signature import Signature
from coherence.exploring.experiments.experiment import SIZES, Chance, Experiment, PowerCurve

COMMANDS, MEAN, GAIN, NOISE = 300, 2.0, 0.7, 0.19  # in spreads of the command; R2 of .93 under a constant gain


def answered(chance: Chance, *, cv: float = 0.0, periods: int = 0, gain: float = GAIN) -> Signature:
    """Returns what the test answers on one run: gains drawn anew for each command, effects so many periods late."""
    commands = chance.normal(MEAN, 1.0, COMMANDS + periods)
    effects = np.roll(gain * (1 + cv * chance.standard_normal(len(commands))) * commands, periods)[periods:]
    return distortion(commands[periods:], effects + NOISE * chance.standard_normal(COMMANDS))


EXPERIMENT = Experiment(
    "4 control distortion",
    "Variance and controllability of what is observed change. Delay is asked first: one that is not in the equation "
    "looks like a gain that varies.",
    __doc__ or "",
    {
        "constant overhead of .3": answered,
        "no overhead": lambda chance: answered(chance, gain=1.0),
    },
    {
        "gain CV .2": lambda chance: answered(chance, cv=0.2),
        "one period of delay": lambda chance: answered(chance, periods=1),
    },
    (
        PowerCurve("gain varies", "CV", SIZES, lambda cv: partial(answered, cv=cv)),
        PowerCurve("constant overhead", "overhead", SIZES, lambda size: partial(answered, gain=1 - size)),
    ),
)
