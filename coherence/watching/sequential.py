"""Decides, block after block, whether a figure has risen: a Shiryaev-Roberts e-detector over conformal p-values.

Each block has a value and its standard error.  Its score is how far it lies above the median of the reference, in
standard errors; p is its rank among the scores of the reference, which takes in every block that raises no alarm:

    p = (1 + #{reference scores >= score}) / (n + 1),   e(p) = (1 - p + p ln p) / (p ln^2 p),   M <- (M + 1) e(p)

Alarm at M >= A.  Where healthy blocks are exchangeable the mean time to a false alarm is at least A blocks, whatever
their law.  e(p) is the mixture of kappa p^(kappa - 1) over kappa in (0, 1).
SOURCE: Shin, Ramdas, Rinaldo, E-detectors: a nonparametric framework for sequential change detection, 2024;
Vovk, Gammerman, Shafer, Algorithmic learning in a random world, 2005 (conformal p-values); Vovk, Wang, E-values, 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from coherence.causal.data.series import Floats

LONGEST = 2016  # blocks of a reference: a week of five minutes
CALM = 36  # blocks without evidence that end an alarm
MAD = 1.4826  # of a normal law: standard deviation over median absolute deviation


@dataclass(frozen=True, eq=False)
class Detector:
    """The state of one test: rows (value, error) of its reference, the evidence M, and whether an alarm holds.

    `least`: blocks that are learned before evidence is gathered.
    """

    threshold: float
    least: int = 0
    reference: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    evidence: float = 0.0
    p_value: float = 1.0
    active: bool = False
    calm: int = 0

    def after(self, value: float, error: float) -> Detector:
        """Returns the state after one more block."""
        p_value = rank_p_value(self.reference, value, error)
        if self.active:
            return self._while_active(p_value, value, error)
        learned = len(self.reference) >= self.least
        evidence = min((self.evidence + 1) * e_value(p_value), 1e300) if learned else 0.0
        if evidence >= self.threshold:
            return replace(self, evidence=evidence, p_value=p_value, active=True, calm=0)
        return replace(self, reference=self._with(value, error), evidence=evidence, p_value=p_value)

    def _with(self, value: float, error: float) -> Floats:
        return np.concatenate([self.reference, [(value, error)]])[-LONGEST:]

    def _while_active(self, p_value: float, value: float, error: float) -> Detector:
        """Nothing of an alarm becomes part of the reference; it ends when most of the last blocks are ordinary."""
        calm = self.calm + 1 if p_value > 0.1 else max(0, self.calm - 3)
        if calm >= CALM:
            return Detector(self.threshold, self.least, self._with(value, error), 0.0, p_value)
        return replace(self, p_value=p_value, calm=calm)


def rank_p_value(reference: Floats, value: float, error: float) -> float:
    """Returns the share of the reference, with the block itself, whose score is at least as high."""
    if not len(reference):
        return 1.0
    values, errors = reference.T
    middle = float(np.median(values))
    spread = MAD * float(np.median(np.abs(values - middle)))
    scores = _scores(values, errors, middle, spread)
    score = _scores(np.array([value]), np.array([error]), middle, spread)[0]
    return float((1 + np.count_nonzero(scores >= score)) / (1 + len(values)))


def _scores(values: Floats, errors: Floats, middle: float, spread: float) -> Floats:
    scores: Floats = (values - middle) / np.maximum(np.hypot(errors, spread), 1e-12)
    return scores


def e_value(p_value: float) -> float:
    """Returns the evidence of one p-value; its mean is at most 1 where p-values are valid."""
    if p_value >= 1:
        return 0.5
    log = math.log(p_value)
    if log > -1e-3:
        return 0.5  # the limit at 1
    return (1 - p_value + p_value * log) / (p_value * log * log)
