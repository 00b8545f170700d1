"""Tests for virtualization-induced control distortion: effects come later than commands, or with a gain that varies.

A constant overhead is the null: slower but obedient.  A late effect is told by the command before, beside the present
one; a gain that varies by a residual whose size grows with that of the command: the question of Breusch and Pagan
(1979), by Spearman's ranks.  Both tests together, each at half of 1 %, reject 13 of 2,000 constant overheads, and 17
where squares are regressed on squares (Koenker 1981).  Delay comes first: it is what makes loops unstable, and a delay
that is not in the equation looks like a gain that varies.
"""

from __future__ import annotations

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.answers.intervals import Floats
from coherence.causal.signatures.signature import LEVEL, Signature

FEWEST = 30  # commands
NULL = "a constant overhead: each effect is the same multiple of its own command, and noise"


def distortion(commanded: Floats, realised: Floats) -> Signature:
    """Returns the share of realised motion that commands do not explain; both sampled once a period.

    Raises UsageError for fewer than 30 commands, or commands that never change or change by the same amount each time.
    """
    if len(commanded) != len(realised) or len(commanded) < FEWEST or np.ptp(commanded) == 0:
        raise UsageError(f"a gain is told by at least {FEWEST} commands that are not all alike, each with its effect")
    if np.ptp(np.diff(commanded)) <= 1e-12 * np.ptp(commanded):
        raise UsageError("commands that change by the same amount each time do not tell a delay from a gain")
    now, before, effect = commanded[1:], commanded[:-1], realised[1:]
    alone = _regressed(effect, now)[2]
    if np.ptp(alone) <= 1e-12 * float(np.ptp(effect)):  # obeyed to the last digit
        return Signature("control distortion", NULL, 1.0, 0.0, "1", "of the variance of the effect")
    slopes, late, rest = _regressed(effect, now, before)
    is_late = late <= LEVEL / 2
    varies = _grows(rest, before) if is_late else _grows(alone, now)
    obeyed = float(np.corrcoef(commanded, realised)[0, 1]) ** 2
    parts = {"p delay": late, "p gain": varies, "gain now": float(slopes[0]), "gain of before": float(slopes[1])}
    p = min(1.0, 2 * min(late, varies))  # Bonferroni
    return Signature("control distortion", NULL, p, 1 - obeyed, "1", "of the variance of the effect", parts)


def _regressed(effect: Floats, *causes: Floats) -> tuple[Floats, float, Floats]:
    """Returns the slope of each cause, p of a last slope of zero, and the residuals."""
    from scipy.special import stdtr

    columns = np.column_stack([np.ones(len(effect)), *causes])
    inverse = np.linalg.pinv(columns.T @ columns)
    slopes = inverse @ columns.T @ effect
    rest = effect - columns @ slopes
    free = len(effect) - columns.shape[1]
    error = float(np.sqrt(rest @ rest / free * inverse[-1, -1]))
    p = 2 * float(stdtr(free, -abs(slopes[-1]) / error)) if error > 0 else float(slopes[-1] == 0)
    return slopes[1:], p, rest


def _grows(rest: Floats, command: Floats) -> float:
    """Returns p of residuals whose size does not grow with that of the command, by ranks."""
    from scipy.stats import spearmanr

    return float(spearmanr(np.abs(rest), np.abs(command), alternative="greater").pvalue)
