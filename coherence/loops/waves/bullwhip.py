"""Bullwhip: amplification of demand by an order-up-to policy, as closed forms and as a hop of a chain.

Each period the order is what was sold plus the change of the order-up-to level, L times the forecast of one
period; L is the lead time including the review period.  A replica pool that provisions for a smoothed load
over its start-up time obeys the same law.
SOURCE: Chen, Drezner, Ryan, Simchi-Levi 2000, Management Science 46(3) (moving average, several stages);
Chen, Ryan, Simchi-Levi 2000, Naval Research Logistics 47(4) (exponential smoothing); Dejonckheere et al. 2003.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.loops.multirate.sampled_system import Number
from coherence.loops.waves.chains import Hop


@dataclass(frozen=True)
class Bullwhip:
    """`variance_ratio`: variance of orders over that of demand; `peak`: largest gain over all frequencies."""

    variance_ratio: Number
    peak: Number


def moving_average(lead: int, periods: int, *, correlation: Number = 0) -> Bullwhip:
    """Returns the order-up-to law on the mean of the last `periods` demands;
    demand AR(1) of this correlation, |rho| < 1.

    1 + (2 L/p + 2 L^2/p^2) (1 - rho^p) and, where z^-p = -1, 1 + 2 L/p.  Exact for whole and rational numbers.
    """
    _checked(lead, correlation)
    if periods < 1:
        raise UsageError(f"a moving average over {periods} periods: give at least 1")
    share = Fraction(lead) / periods
    return Bullwhip(1 + (2 * share + 2 * share**2) * (1 - correlation**periods), 1 + 2 * share)


def exponential_smoothing(lead: int, weight: Number, *, correlation: Number = 0) -> Bullwhip:
    """Returns the order-up-to law on exponential smoothing with this weight of the newest demand, 0 < weight <= 1.

    1 + (2 L a + 2 L^2 a^2 / (2 - a)) (1 - rho) / (1 - (1 - a) rho) and, at the highest frequency, 1 + 2 L a / (2 - a).
    """
    _checked(lead, correlation)
    if not 0 < weight <= 1:
        raise UsageError(f"a smoothing weight of {float(weight):g}: give one in (0, 1]")
    excess = 2 * lead * weight + 2 * lead**2 * weight**2 / (2 - weight)
    factor = (1 - correlation) / (1 - (1 - weight) * correlation)
    return Bullwhip(1 + excess * factor, 1 + 2 * lead * weight / (2 - weight))


def shared_demand(leads: Sequence[int], periods: int) -> tuple[Fraction, ...]:
    """Returns the variance ratio of stage 1, 2, ... where every stage forecasts from the customers' own demand
    (moving average).

    1 + 2 S/p + 2 S^2/p^2 with S the sum of the lead times so far: it grows as a polynomial, not as a power.
    """
    ratios, total = [], 0
    for lead in leads:
        total += lead
        ratios.append(Fraction(moving_average(total, periods).variance_ratio))
    return tuple(ratios)


def moving_average_hop(lead: int, periods: int, *, name: str = "stage") -> Hop:
    """Returns the hop from demand to orders: 1 + (L/p) (1 - z^-p)."""
    share = moving_average(lead, periods).peak - 1
    half = Fraction(share) / 2
    middle = (Fraction(0),) * (periods - 1)
    return Hop(name, (1 + half, *middle, -half), (Fraction(1), *middle, Fraction(0)), step=1.0)


def exponential_smoothing_hop(lead: int, weight: Number, *, name: str = "stage") -> Hop:
    """Returns the hop from demand to orders: 1 + L a (1 - z^-1) / (1 - (1 - a) z^-1)."""
    exponential_smoothing(lead, weight)
    rest = 1 - weight
    return Hop(name, (1 + lead * weight, -rest - lead * weight), (1, -rest), step=1.0)


def _checked(lead: int, correlation: Number) -> None:
    if lead < 0 or not -1 < correlation < 1:
        raise UsageError(f"lead {lead}, correlation {float(correlation):g}: lead >= 0 and |correlation| < 1")
