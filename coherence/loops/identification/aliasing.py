"""Names periods that a scrape interval hides: aliases, attenuation by averaging, and warnings.

A swing of period P scraped every T seconds shows the period 1 / |1/P - k/T| with the k that makes it longest;
for P = T, T/2, ... it shows nothing at all.  A metric averaged over a window W keeps |sin(pi W/P) / (pi W/P)|
of the swing.  SOURCE: Shannon 1949; Oppenheim and Schafer, Discrete-Time Signal Processing, 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from coherence.base.errors import UsageError

FEW = 4.0  # scrapes per period below which peaks are missed: the highest sample may be 71 % of the true peak
FADED = 0.5  # what an average must keep of a swing


@dataclass(frozen=True)
class Seen:
    """What a swing looks like: its apparent `period` in s (infinite: a constant), and the `share` of its size kept."""

    period: float
    share: float
    aliased: bool


@dataclass(frozen=True)
class Hidden:
    """One thing that telemetry hides; `name`: whose period."""

    name: str
    message: str


def seen(period: float, interval: float, *, window: float = 0.0) -> Seen:
    """Returns how a swing of this period looks, averaged over `window` and scraped every `interval` seconds."""
    if not (period > 0 and interval > 0 and window >= 0):
        raise UsageError("period and interval must be > 0, the window >= 0")
    turns = interval / period
    folded = abs(turns - round(turns))
    apparent = interval / folded if folded > 1e-9 * max(1.0, turns) else math.inf
    return Seen(apparent, share_after_averaging(period, window), turns > 0.5 * (1 + 1e-12))


def share_after_averaging(period: float, window: float) -> float:
    """Returns the share of a swing's size that a moving average over the window keeps."""
    angle = math.pi * window / period
    return abs(math.sin(angle) / angle) if angle else 1.0


def aliases(apparent: float, interval: float, *, shortest: float) -> tuple[float, ...]:
    """Returns true periods of at least `shortest` seconds that show this apparent period (>= 2 intervals), longest
    first.
    """
    if not (apparent >= 2 * interval * (1 - 1e-12) and interval > 0 and shortest > 0):
        raise UsageError("an apparent period is at least two scrape intervals")
    own = 1 / apparent
    most = math.ceil(interval / shortest) + 1
    rates = {own} | {k / interval + sign * own for k in range(1, most + 1) for sign in (-1, 1)}
    periods = sorted({1 / rate for rate in rates if rate > 0}, reverse=True)
    return tuple(period for period in periods if period >= shortest * (1 - 1e-12))


def warnings(
    periods: Mapping[str, float], interval: float, *, window: float = 0.0, apparent: float | None = None
) -> tuple[Hidden, ...]:
    """Returns what this telemetry hides of loops whose swings have these periods (s).

    `apparent`: a period identified from it; then a loop whose faster swing would look the same is named too.
    """
    hidden = []
    for name, period in periods.items():
        view = seen(period, interval, window=window)
        if view.aliased:
            looks = "as a constant" if math.isinf(view.period) else f"as a period of {view.period:.4g} s"
            text = f"a period of {period:.4g} s scraped every {interval:.4g} s shows {looks}: scrape at least every "
            hidden.append(Hidden(name, f"{text}{period / FEW:.3g} s"))
            if apparent is not None and math.isfinite(view.period) and abs(view.period / apparent - 1) < 0.05:
                hidden.append(
                    Hidden(name, f"the identified period of {apparent:.4g} s may be {name}'s of {period:.4g} s")
                )
        elif interval > period / FEW:
            text = (
                f"{period / interval:.2g} scrapes per period of {period:.4g} s miss its peaks: scrape at least every "
            )
            hidden.append(Hidden(name, f"{text}{period / FEW:.3g} s"))
        if window and view.share < FADED:
            text = f"an average over {window:.4g} s keeps {view.share:.0%} of a period of {period:.4g} s"
            hidden.append(Hidden(name, text))
    return tuple(hidden)
