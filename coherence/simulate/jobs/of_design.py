"""Converts the synchronous jobs of a design into jobs ready to run.

A component is a job if it uses the part `barrier`, or has `copies` and `takes: {step: ..}`.  Its keys:

- `ranks` or `copies`: how many meet at the barrier; `work: 10000 step` (without it: as long as the run)
- `typical` and `spread`: mean and variation of a rank's step (normal up to 30 %, gamma above);
  or `takes: {step: 1 s .. 2 s}`: uniform; `takes: {collective}`: after the barrier
- `takes: {checkpoint}`: a save; how often: `every` of a timer with `then: x.checkpoint starts`, or the key
  `checkpoint`; with `takes: {snapshot}` it is asynchronous; `writers: 1`: so many ranks save, the others wait
- `mtbf`, `shape` (1), `ranks_per_node` (1): mean life of a node and its Weibull shape
- `takes: {detection, restart, repair}`, `spares`: after a failure; without `detection` a watchdog notices it
- `stragglers: 2` with `slower: 20 %`: so many ranks take so much longer throughout
- `takes: {slowed}`, `slowed_every`, `slowed_by: 50 %`, `slowed_ranks`: episodes in which ranks are slow together
- `pause_every: 30 d` with `takes: {pause}` and a loop that sets `x.pause`: the mean time that one rank computes
  between two local pauses
- a timer `from: first x waits` is a watchdog, unless its `then` ends nothing

Jobs that call each other are one gang (model.gangs): all ranks meet at one barrier, each with the step of its own
component; the first of them says everything else.

A duration of an occurrence (`takes`) that is a range is drawn anew each time; an unknown constant stands at
its lower end, as in the exact executor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from coherence.base.errors import InputError, Problem
from coherence.language.design import Design, Timer
from coherence.language.entries.actions import is_harmless
from coherence.language.entries.jitter import shift_of
from coherence.language.entries.probes import longest_spacing
from coherence.language.schema_kinds import Quantity
from coherence.model.gangs import JobGang, gangs
from coherence.simulate.jobs.job import (
    NORMAL_CV,
    Checkpoint,
    Failures,
    JobProgram,
    JobRecovery,
    Law,
    RankPause,
    Slowdowns,
    Stragglers,
    Watchdog,
    constant,
)
from coherence.simulate.jobs.keys import Keys


def jobs_of(design: Design) -> tuple[JobProgram, ...]:
    """Returns every synchronous job of the design.  Raises InputError with everything that is missing."""
    problems: list[Problem] = []
    jobs = [_job(design, gang, problems) for gang in gangs(design)]
    if problems:
        raise InputError(problems)
    return tuple(job for job in jobs if job is not None)


def _job(design: Design, gang: JobGang, problems: list[Problem]) -> JobProgram | None:
    component = gang.members[0]
    keys, before = Keys(component, problems), len(problems)
    try:
        groups = _groups(design, gang, problems)
        ranks, work = sum(count for count, _ in groups), keys.count("work")
        step, collective = max((law for _, law in groups), key=lambda law: law.mean), keys.law("collective")
        members = [Keys(member, problems) for member in gang.members]
        watchdogs, failures = tuple(dog for own in members for dog in _watchdogs(design, own)), _failures(keys)
        recovery = _recovery(keys, failures, watchdogs)
        stragglers, slowdowns = _stragglers(keys, ranks), _slowdowns(keys)
        pauses, checkpoint = tuple(_pauses(design, keys)), _checkpoint(design, keys)
        if len(problems) > before:
            return None
        return JobProgram(
            keys.name, ranks, step, math.inf if work is None else work, collective or constant(0.0), stragglers,
            slowdowns, pauses, checkpoint, failures, recovery, watchdogs, groups if len(groups) > 1 else (),
        )  # fmt: skip
    except ValueError as refused:
        keys.problems.append(Problem(component.place, f"{keys.name} cannot run: {refused}"))
        return None


OF_THE_GANG = frozenset((
    "work", "checkpoint", "writers", "mtbf", "shape", "ranks_per_node", "spares", "stragglers", "slower",
    "slowed_every", "slowed_by", "slowed_ranks",
))  # fmt: skip


def _groups(design: Design, gang: JobGang, problems: list[Problem]) -> tuple[tuple[int, Law], ...]:
    """Returns how many ranks each job of a gang has, and their steps; all else is asked of the first."""
    first = gang.members[0]
    for other in gang.members[1:]:
        stated = [(key, value.place) for key, value in other.constants.items() if key in OF_THE_GANG]
        stated += [(f"takes.{key}", value.place) for key, value in (other.takes or {}).items() if key != "step"]
        for key, place in stated:
            message = f"{other.name} is of the gang of {first.name}, where {key} of all of them is stated"
            problems.append(Problem(place, message, f"write it at {first.name}, or drop the calls between them"))
        for loop in (one for one in design.loops.values() if one.written.partition(".")[0] == other.name):
            message = f"{loop.name} writes a signal of {other.name}, whose ranks {first.name} stands for"
            problems.append(Problem(loop.place, message, f"let it write a signal of {first.name}"))
    own = [Keys(member, problems) for member in gang.members]
    return tuple((_ranks(keys), _step(keys) or constant(1.0)) for keys in own)


def _ranks(keys: Keys) -> int:
    copies = keys.component.copies
    if isinstance(copies, Quantity):
        return int(copies.low)
    return keys.need(keys.count("ranks"), "the number of its ranks", "write `copies: 64`") or 1


def _step(keys: Keys) -> Law | None:
    mean, spread = keys.duration("typical"), keys.share("spread") or 0.0
    if mean is None:
        return keys.need(keys.law("step"), f"the step time of {keys.name}", "write `takes: {step: 1 s .. 2 s}`")
    return Law("normal" if spread <= NORMAL_CV else "gamma", mean, spread) if spread else constant(mean)


def _stragglers(keys: Keys, ranks: int) -> Stragglers | None:
    count = keys.count("stragglers")
    if not count:
        return None
    slower = keys.need(keys.share("slower"), "how much its stragglers are slower", "write `slower: 20 %`")
    return Stragglers(tuple(range(min(count, ranks))), 1 + (slower or 0.0))


def _slowdowns(keys: Keys) -> Slowdowns | None:
    lasts, every, factor = keys.law("slowed"), keys.duration("slowed_every"), keys.share("slowed_by")
    if lasts is None and every is None and factor is None:
        return None
    keys.need(lasts, "how long ranks are slowed", "write `takes: {slowed: 5 min}`")
    keys.need(every, "how often ranks are slowed", "write `slowed_every: 6 h`")
    keys.need(factor, "by how much ranks are slowed", "write `slowed_by: 50 %`")
    if lasts is None or every is None or factor is None:
        return None
    return Slowdowns(1 + factor, every, lasts.mean, keys.count("slowed_ranks") or 0)


def _failures(keys: Keys) -> Failures | None:
    mtbf = keys.duration("mtbf")
    if mtbf is None:
        return None
    return Failures(mtbf, keys.share("shape") or 1.0, keys.count("ranks_per_node") or 1)


def _recovery(keys: Keys, failures: Failures | None, watchdogs: tuple[Watchdog, ...]) -> JobRecovery | None:
    if failures is None and not watchdogs:
        return None
    detection, spares = keys.law("detection"), keys.count("spares")
    if failures is not None and not watchdogs:
        keys.need(detection, "the time until a failure is noticed", "write `takes: {detection: 1 min}`, or a watchdog")
    restart = keys.need(keys.law("restart"), "its restart time", "write `takes: {restart: 5 min}`")
    if restart is None:
        return None
    return JobRecovery(restart, detection, math.inf if spares is None else spares, keys.law("repair"))


# -- what other sections say --------------------------------------------------------------------


def _checkpoint(design: Design, keys: Keys) -> Checkpoint | None:
    every, takes = _interval(design, keys), keys.law("checkpoint")
    if every is None and takes is None:
        return None
    every = keys.need(every, "when it saves", f"write a timer with `every:` and `then: {keys.name}.checkpoint starts`")
    takes = keys.need(takes, "how long a save takes", "write `takes: {checkpoint: 30 s}`")
    if every is None or takes is None:
        return None
    return Checkpoint(every, takes, keys.law("snapshot"), keys.count("writers") or 0)


def _interval(design: Design, keys: Keys) -> float | None:
    for timer in design.timers.values():
        saves = timer.then is not None and timer.then.subject == f"{keys.name}.checkpoint"
        if saves and isinstance(timer.every, Quantity):
            return float(timer.every.low)
    return keys.duration("checkpoint")


def _pauses(design: Design, keys: Keys) -> Iterator[RankPause]:
    for loop in design.loops.values():
        thing, _, activity = loop.written.partition(".")
        if thing != keys.name or activity not in (keys.component.takes or {}):
            continue
        key = f"{activity}_every"
        what = f"how often {loop.name} sets {activity} of one member"
        every = keys.need(keys.duration(key), what, f"write `{key}: 30 d`: the mean time it computes between two")
        lasts = keys.law(activity)
        if every is not None and lasts is not None:
            yield RankPause(loop.name, every, lasts)


def _watchdogs(design: Design, keys: Keys) -> Iterator[Watchdog]:
    for timer in design.timers.values():
        waits = timer.start is not None and timer.start.kind == "waits" and timer.start.thing == keys.name
        if not waits or (timer.then is not None and is_harmless(timer.then.text)):
            continue
        window = _window(timer)
        if window is not None:
            yield Watchdog(timer.name, *window)
        elif timer.after is None and timer.first is None and timer.every is None:
            keys.needs(f"when {timer.name} fires", "write `after: 30 min`", timer.place)


def _window(timer: Timer) -> tuple[float, float] | None:
    """Returns when it fires after its event, in seconds: a probe after its last miss, else once; None: never."""
    start = timer.after if timer.after is not None else timer.first
    if (start is not None and not isinstance(start, Quantity)) or (start is None and timer.every is None):
        return None
    early, late = map(float, shift_of(timer.jitter))
    low, high = (float(start.low), float(start.high)) if start is not None else (0.0, 0.0)
    if timer.every is not None:
        if timer.misses is not None and not isinstance(timer.misses, Quantity):
            return None
        few, many = (int(timer.misses.low), int(timer.misses.high)) if timer.misses is not None else (1, 1)
        reply = float(timer.reply_within.high) if timer.reply_within is not None else 0.0
        every = float(timer.every.high)
        low += (few - 1) * float(timer.every.low)
        high += every + (many - 1) * float(longest_spacing(timer)) + reply
    return max(0.0, low + early), high + late
