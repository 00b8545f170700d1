"""Computes floors that no retuning of a loop passes: its recovery time, its largest gain, what its stale readings cost.

The ages of readings are bounds that read the design alone (`reading_age_mean`, `reading_age_longest`); those here need
the way from a command to what is read, so they start from the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from coherence.base.places import Place
from coherence.minimums.bound import Application, Bound
from coherence.minimums.design_floors import DesignFloor, floor_of
from coherence.minimums.lags import Branch, branches, ways, weights
from coherence.minimums.registry import entry
from coherence.model.model import Model, SampledLoop


def loop_floors(model: Model) -> tuple[DesignFloor, ...]:
    """Returns for each loop with feedback its recovery time, and for each way back the largest gain and the updates.

    A loop that sees several ways (a minimum of a delayed and an undelayed signal) has both for each of them.
    """
    floors = [floor for loop in model.loops if loop.signal for floor in _of(model, loop)]
    return tuple(sorted(floors, key=lambda floor: (floor.bound.loss, floor.bound.name, floor.application.thing)))


def _of(model: Model, loop: SampledLoop) -> Iterator[DesignFloor]:
    back = ways(model, loop)
    if not back:
        return
    dead = min(way.dead for way in back) + loop.lands
    spans = {"period": (loop.period, loop.period), "dead": (dead, dead)}
    yield floor_of(_bound("recovery_time"), Application(loop.name, spans, {}, tuple(_places(loop))))
    if loop.law != "proportional":
        return
    choices = branches(model, loop)
    for branch in choices:
        yield from _of_branch(loop, branch, alone=len(choices) == 1)


def _of_branch(loop: SampledLoop, branch: Branch, *, alone: bool) -> Iterator[DesignFloor]:
    """Yields the gain, and where all that is read is equally old how many updates an error lasts."""
    thing = loop.name if alone else f"{loop.name} ({' and '.join(way.text() or 'undelayed' for way in branch)})"
    shares = weights(branch[0], loop) if len(branch) == 1 else "one way back: several of unlike age add up"
    places = tuple(_places(loop))
    if isinstance(shares, str):
        yield floor_of(_bound("sampled_gain"), Application(thing, {}, {"weights": shares}, places))
        return
    span = cast("Any", (shares, shares))
    yield floor_of(_bound("sampled_gain"), Application(thing, {"weights": span}, {}, places))
    age = len(shares) - 1
    if age and shares[age] == 1:
        yield floor_of(_bound("stale_updates"), Application(thing, {"staleness": (age, age)}, {}, places))


def _bound(name: str) -> Bound:
    return entry(name).bound


def _places(loop: SampledLoop) -> Iterator[Place]:
    timescale, target = loop.source.timescale, loop.source.target
    if timescale is not None:
        for quantity, label in ((timescale.period, "decides this often"), (timescale.lands, "lands this much later")):
            if quantity is not None:
                yield quantity.place.labelled(f"{loop.name} {label}")
    if target is not None and target.signal is not None:
        yield target.signal.place.labelled(f"{loop.name} reads this")
        yield from (link.place.labelled("adds to the age of what it reads") for link in target.sensor if link.duration)
