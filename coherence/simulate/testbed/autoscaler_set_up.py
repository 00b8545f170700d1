"""Derives the autoscaler testbed from a design: one HPA loop, one pool of replicas, one constant load.

A design can say more than the testbed can follow.  What cannot be reproduced is refused by name, with the remedy,
and never run as something else.  The last check is the strongest: the arithmetic of the testbed (`autoscaler_ideal`)
must decide as the exact executor does on the design.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.base.number_text import render_seconds
from coherence.language.design import Design
from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Tree
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import SensorLink
from coherence.model.elaborate import elaborate
from coherence.model.model import Model, RateLimit, SampledLoop
from coherence.simulate.execute.exact import Choices, Execution, Instant, MissingValueError, View, execute
from coherence.simulate.testbed.autoscaler_ideal import PoolPlant, decisions
from coherence.simulate.testbed.autoscaler_law import Behaviour, Policy

MOST_REPLICAS, MOST_RATE = 24, 1000
QUIET = Fraction(3, 20)  # seconds between a scrape and what it must, or must not, see already
CHECKED = 40  # decisions in which the testbed's arithmetic must be the executor's


@dataclass(frozen=True)
class AutoscalerSetUp:
    """A pool behind a proxy, its constant load, its metric and its autoscaler."""

    pool: str
    loop: str
    signal: str  # the command that the loop writes
    model: Model
    behaviour: Behaviour
    plant: PoolPlant
    initial: int


def applies(design: Design) -> bool:
    """Is this a design for the autoscaler testbed: a proportional loop on a setpoint, and no call that retries?"""
    tries = [count for call in design.calls for count in call.tries]
    retries = any(not isinstance(count, Quantity) or count.high > 1 for count in tries)
    return not retries and any(
        loop.target and loop.target.setpoint and loop.actuation and loop.actuation.law
        and loop.actuation.law.text == "proportional"
        for loop in design.loops.values()
    )  # fmt: skip


def set_up(design: Design) -> AutoscalerSetUp:
    """Raises UsageError, naming everything that is missing or cannot be reproduced."""
    model = elaborate(design)
    _refuse([*_scope(design, model)])
    loop = model.loops[0]
    _refuse([*_loop_problems(loop), *_sensor_problems(loop), *_pool_problems(design, model)])
    behaviour = _behaviour(model)
    plant = _plant(design, model, behaviour)
    _refuse([*_close_instants(loop.name, plant)])
    setup = AutoscalerSetUp(
        _pool(loop),
        loop.name,
        loop.signal,
        model,
        behaviour,
        plant,
        int(_only(model.commands[loop.signal].initial.low)),
    )
    _refuse([*_other_arithmetic(setup)])
    return setup


def _refuse(problems: list[str]) -> None:
    if problems:
        raise UsageError("the autoscaler testbed cannot reproduce this design:", problems)


def _only(found: Fraction | None) -> Fraction:
    assert found is not None
    return found


def _pool(loop: SampledLoop) -> str:
    return loop.signal.partition(".")[0]


# -- what must be there -----------------------------------------------------------------------------


def _scope(design: Design, model: Model) -> Iterator[str]:
    yield from (f"{gap.of} needs {gap.needs}" for gap in model.gaps)
    for what, names in (("loop", list(design.loops)), ("workload", list(design.workload))):
        if len(names) != 1:
            yield f"it runs one {what}, the design has {len(names)}" + (f": {', '.join(names)}" if names else "")


def _loop_problems(loop: SampledLoop) -> Iterator[str]:
    name, bounds = loop.name, loop.bounds
    if loop.law != "proportional" or not loop.integer:
        yield f"{name} must be proportional over whole replicas"
    if loop.trigger or loop.relay or loop.cooldown is not None or loop.mode != "always":
        yield f"{name} has a trigger, a cooldown or a mode; a Horizontal Pod Autoscaler has none"
    if loop.lands:
        yield f"{name} has `lands`; write the start of a replica as `boot` of its component"
    if bounds.low is None or bounds.high is None or bounds.low < 1 or bounds.high > MOST_REPLICAS:
        yield f"{name} needs `bounds` within 1 .. {MOST_REPLICAS} replicas: each is a process"


def _sensor_problems(loop: SampledLoop) -> Iterator[str]:
    chain = _chain(loop)
    kinds = tuple(link.kind for link in chain)
    if kinds not in {("scrape",), ("scrape", "mean"), ("scrape", "rate")}:
        yield f"the sensor of {loop.name} must be [scrape T] or [scrape T, mean W], not [{', '.join(kinds)}]"
    elif not all(link.duration and link.duration.exact and link.duration.low >= 1 for link in chain):
        yield f"the sensor of {loop.name} needs single durations of a second and more"


def _chain(loop: SampledLoop) -> tuple[SensorLink, ...]:
    return loop.source.target.sensor if loop.source.target else ()


def _pool_problems(design: Design, model: Model) -> Iterator[str]:
    loop = model.loops[0]
    if _pool(loop) not in design.components:
        yield f"{loop.name} must write the replicas of a component, not {loop.signal or 'nothing'}"
        return
    constants, workload = design.components[_pool(loop)].constants, next(iter(design.workload.values()))
    yield from _single(f"{_pool(loop)}.rate_per_replica", constants.get("rate_per_replica"))
    yield from _single(f"{_pool(loop)}.boot", constants["boot"]) if "boot" in constants else ()
    yield from _single(f"{workload.name}.rate", workload.rate)
    if workload.burst is not None:
        yield f"{workload.name} has a burst; this load is constant"
    if workload.rate is not None and workload.rate.high > MOST_RATE:
        yield f"{workload.name} sends {float(workload.rate.high):g} req/s; at most {MOST_RATE} are sent"
    if not model.commands[loop.signal].initial.exact:
        yield f"{loop.name} needs the replicas at the start (`actuation: {{from: ...}}`)"


def _single(name: str, found: object) -> Iterator[str]:
    if not isinstance(found, Quantity) or not found.exact or (found.low <= 0 and not name.endswith(".boot")):
        yield f"it needs {name} as a single value above 0"


# -- the parts --------------------------------------------------------------------------------------


def _behaviour(model: Model) -> Behaviour:
    loop = model.loops[0]
    assert loop.setpoint is not None
    low, high = int(_only(loop.bounds.low)), int(_only(loop.bounds.high))
    policies = tuple(policy for rate in loop.rates for policy in _policies(rate))
    return Behaviour(
        _at_rest(model, loop.setpoint, low), loop.tolerance, low, high, loop.hold_down, loop.hold_up, policies
    )


def _policies(rate: RateLimit) -> Iterator[Policy]:
    pods, percent = int(rate.by or 0), rate.percent or Fraction(0)
    if rate.up:
        yield Policy("up", pods, percent, rate.per)
    if rate.down:
        yield Policy("down", pods, percent, rate.per)


def _at_rest(model: Model, tree: Tree, replicas: int) -> Fraction:
    """Returns the value of an expression of the loop when there have always been so many replicas."""
    run = Execution(model, Choices({model.loops[0].signal: Fraction(replicas)}))
    try:
        return Fraction(evaluate(tree, View(run, Fraction(0), run.origin)))
    except (MissingValueError, NotExactError) as error:
        raise UsageError("the autoscaler testbed cannot reproduce this design:", [f"it needs {error}"]) from None


def _plant(design: Design, model: Model, behaviour: Behaviour) -> PoolPlant:
    loop, workload = model.loops[0], next(iter(design.workload.values()))
    constants = design.components[_pool(loop)].constants
    links = [_only(link.duration.low if link.duration else None) for link in _chain(loop)]
    per, boot, rate = constants["rate_per_replica"], constants.get("boot"), workload.rate
    assert isinstance(per, Quantity)
    assert rate is not None
    plant = PoolPlant(
        rate=rate.low,
        rate_per_replica=per.low,
        utilization=True,
        boot=boot.low if isinstance(boot, Quantity) else Fraction(0),
        scrape=links[0],
        window=links[1] if len(links) > 1 else Fraction(0),
        period=loop.period,
        phase=loop.phase or Fraction(0),
    )
    return _metric(model, behaviour, plant)


def _metric(model: Model, behaviour: Behaviour, plant: PoolPlant) -> PoolPlant:
    """The plant with the metric that the loop reads: a share of what a replica can do, or requests per replica."""
    measured = model.loops[0].measured
    assert measured is not None
    counts = range(behaviour.lowest, behaviour.highest + 1)
    for candidate in (plant, replace(plant, utilization=False)):
        if all(_at_rest(model, measured, n) == candidate.usage(n) for n in counts):
            return candidate
    raise UsageError(
        "the autoscaler testbed cannot reproduce this design:",
        [f"{model.loops[0].name} must read requests per ready replica, or that over rate_per_replica"],
    )


# -- what must not be a matter of luck --------------------------------------------------------------


def _close_instants(name: str, plant: PoolPlant) -> Iterator[str]:
    """Scrapes that fall together with decisions, or with the end of a boot: which comes first would be luck."""
    for what, delay, remedy in (("decides", Fraction(0), "phase"), ("has new replicas", plant.boot, "boot")):
        offsets = _offsets(plant, delay)
        gap = min(min(offset, plant.scrape - offset) for offset in offsets)
        if gap < QUIET:
            yield (
                f"{name} {what} within {render_seconds(gap)} of a scrape; change `{remedy}` "
                f"so that at least {render_seconds(QUIET)} lie between"
            )


def slack(plant: PoolPlant) -> Fraction:
    """Returns how late a decision, or a replica, may be without a scrape in between (s)."""
    return min(plant.scrape - offset for delay in (Fraction(0), plant.boot) for offset in _offsets(plant, delay))


def _offsets(plant: PoolPlant, delay: Fraction) -> list[Fraction]:
    """Seconds from the last scrape to `delay` after a decision, for each decision until they repeat."""
    laps = math.lcm(plant.period.denominator, plant.scrape.denominator) * plant.scrape
    return [(plant.phase + delay + k * plant.period) % plant.scrape for k in range(int(laps))]


def decided(setup: AutoscalerSetUp, instants: list[Instant]) -> list[tuple[Fraction, int]]:
    """Returns (time, replicas wanted) of every decision of a run of the executor."""
    phase, period = setup.plant.phase, setup.plant.period
    due = [i for i in instants if i.time >= phase and not (i.time - phase) % period]
    return [(i.time, int(i.after[setup.signal])) for i in due]


def _other_arithmetic(setup: AutoscalerSetUp) -> Iterator[str]:
    """Nothing, if the executor decides on the design as the testbed's arithmetic does."""
    until = setup.plant.phase + (CHECKED - 1) * setup.plant.period
    expected = decided(setup, execute(setup.model, until=until))
    actual = decisions(setup.behaviour, setup.plant, setup.initial, CHECKED)
    for (time, wanted), decision in zip(expected, actual, strict=True):
        if wanted != decision.desired:
            yield (
                f"at {render_seconds(time)} the design wants {wanted} replicas and the testbed would want "
                f"{decision.desired}: ready replicas must be those wanted for at least `boot`, removed at once"
            )
            return
