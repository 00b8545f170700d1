"""Computes closed forms of barriers and checkpoints.  Times in seconds."""

from __future__ import annotations

import math


def harmonic(n: int) -> float:
    """E[largest of n exponentials of mean 1] = 1 + 1/2 + ... + 1/n.  SOURCE: Renyi 1953."""
    return math.fsum(1 / k for k in range(1, n + 1))


def normal_excess(n: int) -> float:
    """E[largest of n standard normals] = integral of n x phi(x) Phi(x)^(n-1).  SOURCE: Harter 1961."""
    from scipy.integrate import quad
    from scipy.special import log_ndtr

    if n == 1:
        return 0.0

    def density(x: float) -> float:
        log = math.log(n) - x * x / 2 - math.log(2 * math.pi) / 2 + (n - 1) * float(log_ndtr(x))
        return x * math.exp(log)

    peak = math.sqrt(2 * math.log(max(n, 2)))
    integral = quad(density, -12.0, max(12.0, peak + 6), points=[0.0, peak], limit=200)
    return float(integral[0])


def young(save: float, mtbf: float) -> float:
    """Interval of least loss to first order: sqrt(2 save mtbf).  SOURCE: Young 1974."""
    return math.sqrt(2 * save * mtbf)


def daly(save: float, mtbf: float) -> float:
    """Interval of least loss to higher order, for save < 2 mtbf; else mtbf.  SOURCE: Daly 2006, equation 37."""
    if save >= 2 * mtbf:
        return mtbf
    ratio = save / (2 * mtbf)
    return math.sqrt(2 * save * mtbf) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - save


def best_interval(save: float, mtbf: float) -> float:
    """Interval of least expected run time with exponential failures: mtbf (1 + W(-exp(-save / mtbf - 1))).

    W is Lambert's function; the stationary point of `expected_runtime` over the interval.  SOURCE: Daly 2006.
    """
    from scipy.special import lambertw

    if save < mtbf / 1e4:  # near the branch point W has too few digits left: Newton on the same condition
        return mtbf * _interval_share(save / mtbf)
    return mtbf * (1 + float(lambertw(-math.exp(-save / mtbf - 1)).real))


def _interval_share(share: float) -> float:
    """t with -t - log(1 - t) = `share` < 1e-4, by Newton from sqrt(2 share); the left side by its series."""
    t = math.sqrt(2 * share)
    for _ in range(4):
        left = math.fsum(t**k / k for k in range(2, 12))
        t -= (left - share) * (1 - t) / t if t else 0.0
    return t


def expected_runtime(
    *, work: float, interval: float, save: float, mtbf: float, restart: float, detection: float = 0.0
) -> float:
    """E[run time] = (mtbf + detection) e^(restart / mtbf) (e^((interval + save) / mtbf) - 1) work / interval.

    `work` seconds in equal intervals with a save after each; exponential failures of the whole job with mean
    `mtbf`, which strike in work, saves and restarts; each costs `detection`, in which further ones do not matter.
    SOURCE: Daly 2006, equation 13, with the detection added by the same renewal argument: a stretch x that must
    pass without a failure, each failure costing c, takes (mtbf + c) (e^(x / mtbf) - 1).
    """
    stretch = math.expm1((interval + save) / mtbf)
    return (mtbf + detection) * math.exp(restart / mtbf) * stretch * work / interval
