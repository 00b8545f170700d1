"""Decides which floors may be joined: what they measure, and of which runs they speak.

each run     joins with all others: what no run beats, no mean and no worst case beats
means        add (expectations are linear) and the largest of them is a floor (Jensen); they do not multiply,
             since a run that is short may be one that is repeated
worst cases  the largest of them is a floor; they do not add, since they need not come in one run
a trace      joins with what holds of each run, and with itself
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from coherence.base.errors import UsageError
from coherence.minimums.bound import Bound, Quantifier

_SHARE = re.compile(r"share of (.+?)(?: that| lost|$)")
_ALONE = {
    Quantifier.WORST: "worst cases need not come in one run",
    Quantifier.MEAN: "a run that is short may be one that is repeated often",
    Quantifier.TRACE: "a trace that is given is not every run",
}


def measure(bound: Bound) -> str:
    """Returns what a number of the bound may be added to: its unit; of a bare number the whole or what it counts."""
    if bound.unit != "1":
        return bound.unit
    share = _SHARE.match(bound.quantity)
    return f"share of {share[1]}" if share else bound.quantity


def added(of: Iterable[Quantifier]) -> Quantifier:
    """Returns of which runs a sum speaks.  Raises UsageError where it is no floor of any."""
    return _common(of, "add", (Quantifier.MEAN, Quantifier.TRACE))


def multiplied(of: Iterable[Quantifier]) -> Quantifier:
    """Returns of which runs a product speaks.  Raises UsageError where it is no floor of any."""
    return _common(of, "multiply", (Quantifier.TRACE,))


def taken_together(of: Iterable[Quantifier]) -> Quantifier:
    """Returns of which runs the largest speaks.  Raises UsageError where it is no floor of any."""
    some = {one for one in of if one is not Quantifier.EACH}
    if some == {Quantifier.MEAN, Quantifier.WORST}:
        return Quantifier.WORST  # the worst run is no better than the mean
    return _common(some, "compare", tuple(Quantifier))


def _common(of: Iterable[Quantifier], what: str, alike: tuple[Quantifier, ...]) -> Quantifier:
    """Returns the one that is not of each run; more of it only where those that are alike may be joined."""
    some = [one for one in of if one is not Quantifier.EACH]
    if not some:
        return Quantifier.EACH
    first = some[0]
    if any(one is not first for one in some):
        names = " and a ".join(dict.fromkeys(f"floor of a {one}" for one in some))
        raise UsageError(f"a {names} do not {what}: {_ALONE[Quantifier.TRACE]}, and a mean is neither")
    if len(some) > 1 and first not in alike:
        raise UsageError(f"two floors of a {first} do not {what}: {_ALONE[first]}")
    return first
