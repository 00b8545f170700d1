"""Answers of `act-before-effect`: a command that passes where it settles, by an action whose predecessor was unseen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.clock import now
from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Evidence, Finding, Grade, Repair
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.expressions import names as names_of
from coherence.language.expressions.evaluate import evaluate
from coherence.language.expressions.tree import Compare, Tree, rename, walk
from coherence.loops.checks._groups import (
    Numbers,
    altered,
    breaks,
    groups,
    linear_at,
    promises,
    runs,
    runs_of,
    settled,
    tried,
    witnessed,
)
from coherence.loops.designs.groups import LAPS, MOST_INSTANTS, Group, all_settle, place
from coherence.model.model import SampledLoop, sensor_delay
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.certificates.run_certificates import certificate
from coherence.simulate.execute.exact import Execution, Instant, View
from coherence.simulate.execute.orbits import LongRun, hyperperiod, long_run
from coherence.simulate.execute.slices import influences
from coherence.simulate.execute.timeline import shown, told_choices

IN_STEPS = ("step", "rules")
LEAST, MOST_TRIED, MOST_LOOKED = Fraction(1, 100), 24, 400


@dataclass(frozen=True)
class Overshoot:
    """A blind action: its run, the two instants, the command before and after, where it settles, and the lag."""

    run: LongRun
    first: Fraction
    second: Fraction
    before: Fraction
    after: Fraction
    rest: Fraction
    lag: Fraction
    end: int  # instants up to and with the second action

    @property
    def excess(self) -> Fraction:
        return abs(self.after - self.rest)


def answers(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop that passes where it settles before it sees what it did."""
    for group in groups(subject):
        linear = linear_at(subject, group)
        for loop in group.loops:
            if loop.law not in ("proportional", "step", "rules") or not loop.signal or loop.mode == "once":
                continue
            rest = linear.point.get(loop.signal) if linear else None
            overshoots = tried(_overshoots, subject, group, loop, rest) or []
            first = next((overshoot for overshoot in overshoots if overshoot is not None), None)
            if first is not None:
                yield _answer(question, subject, group, loop, first)
            elif (most := max(tried(_acted_twice, subject, group, loop, rest) or [0])) > MOST_TRIED:
                message = (
                    f"whether {loop.name} acts before it sees what it did: of {most} pairs of actions not all are run"
                )
                yield question.undecided(message, (place(loop),), (loop.name,), bound=f"{MOST_TRIED} pairs of actions")


def seen_in_time(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each loop alone of which every start settles, and no action beyond that is blind."""
    deadline = now() + subject.time_limit
    for group in groups(subject):
        rests = tried(all_settle, group, deadline) if len(group.loops) == 1 else None
        loop = group.loops[0]
        if rests is None or not rests.starts or not all(_sees(group, loop, run) for run in rests.runs):
            continue
        keeps = all(_keeps_promises(subject, group, run) for run in rests.runs)
        names = [promise.name for promise, _ in promises(subject, group.model)] if keeps else []
        evidence = Evidence(
            Grade.PROVED, f"exact execution of {rests.starts} starts", certificate=certificate(group.model, rests.runs)
        )
        message = f"{loop.name} sees each action before one that passes where it settles"
        yield question.absent(message, (place(loop),), (loop.name, *names), evidence)


def _sees(group: Group, loop: SampledLoop, run: LongRun) -> bool:
    """Returns whether each action beyond where the loop settles comes when the one before it shows, of a few."""
    stands = None if loop.law in IN_STEPS else plain(run.instants[-1].after[loop.signal])
    pairs = _pairs(loop, run.instants, stands)
    shows = [
        (tried(_first_seen, group, loop, run, first), run.instants[second].time) for first, second in pairs[:MOST_TRIED]
    ]
    return len(pairs) <= MOST_TRIED and all(seen is not None and seen <= time for seen, time in shows)


def _acted_twice(subject: Subject, group: Group, loop: SampledLoop, rest: Fraction | None) -> list[int]:
    """Returns, for each run, how many pairs of actions of one direction pass where the loop settles."""
    ends = [(run, _settles_at(loop, run, rest)) for run in runs(subject, group)]
    return [len(_pairs(loop, run.instants, end)) for run, end in ends if end is not None]


def _settles_at(loop: SampledLoop, run: LongRun, rest: Fraction | None) -> Fraction | None:
    """Returns where the command of the loop settles in a run; `rest` where it does not settle."""
    return plain(run.orbit.lap[0].after[loop.signal]) if settled(run) and run.orbit is not None else rest


def _overshoots(subject: Subject, group: Group, loop: SampledLoop, rest: Fraction | None) -> list[Overshoot | None]:
    return [overshoot(group, loop, run, rest) for run in runs(subject, group)]


def overshoot(group: Group, loop: SampledLoop, run: LongRun, rest: Fraction | None) -> Overshoot | None:
    """Returns the first action beyond where the loop settles whose predecessor, in the same direction, was not seen
    yet.
    """
    rest = _settles_at(loop, run, rest)
    if rest is None or (loop.law in IN_STEPS and settled(run)):
        rest = _patient_rest(group, loop, run)
    if rest is None:
        return None
    for first, second in _pairs(loop, run.instants, rest)[:MOST_TRIED]:
        lag = _unseen(group, loop, run, first, second)
        if lag is not None:
            before, after = _change(loop, run.instants[second])
            return Overshoot(
                run, run.instants[first].time, run.instants[second].time, before, after, rest, lag, second + 1
            )
    return None


def _patient_rest(group: Group, loop: SampledLoop, run: LongRun) -> Fraction | None:
    """Returns where a loop of steps settles if it waits until its first blind action shows.

    Between two conditions it rests wherever it comes to a stand, so that where it stops says nothing of what would do.
    """
    for first, second in _pairs(loop, run.instants, None)[:MOST_TRIED]:
        lag = _unseen(group, loop, run, first, second)
        if lag is not None:
            model = altered(group.model, loop, cooldown=max(lag, loop.cooldown or lag))
            patient = long_run(model, run.choices, laps=LAPS, most=MOST_INSTANTS)
            return _settles_at(loop, patient, None)
    return None


def _change(loop: SampledLoop, instant: Instant) -> tuple[Fraction, Fraction]:
    action = next(a for a in instant.actions if a.loop == loop.name)
    return plain(action.before), plain(action.after)


def _pairs(loop: SampledLoop, instants: Sequence[Instant], rest: Fraction | None) -> list[tuple[int, int]]:
    """Consecutive actions of one direction, of which the second ends beyond the rest (None: anywhere) by more than the
    tolerance.
    """
    acts = [i for i, instant in enumerate(instants) if any(a.loop == loop.name for a in instant.actions)]
    margin = max(abs(rest or Fraction(0)) * max(loop.tolerance, LEAST), Fraction(1 if loop.integer else 0))
    pairs = []
    for first, second in itertools.pairwise(acts):
        (a, b), (c, d) = _change(loop, instants[first]), _change(loop, instants[second])
        up = d > c
        if (b > a) == up and (rest is None or (d - rest if up else rest - d) > margin):
            pairs.append((first, second))
    return pairs


def _unseen(group: Group, loop: SampledLoop, run: LongRun, first: int, other: int) -> Fraction | None:
    """Returns how long the first action takes to show in what the loop reads, if it does not at the second; else
    None."""
    seen = _first_seen(group, loop, run, first)
    return seen - run.instants[first].time if seen is not None and seen > run.instants[other].time else None


def _first_seen(group: Group, loop: SampledLoop, run: LongRun, first: int) -> Fraction | None:
    """Returns the first sample at which an action shows in what the loop reads; None where that is not soon."""
    world = Execution(group.model, run.choices)
    for _ in range(first):
        world.advance()
    acted, still = world, world.copy()
    still.order = tuple(x for x in still.order if x.name != loop.name)
    still.advance()
    acted.advance()
    acted.order = still.order
    whole, before = hyperperiod(group.model), set[tuple[object, ...]]()
    for _ in range(MOST_LOOKED):
        time = acted.next_time()
        for run_ in (acted, still):
            while run_.next_time() <= time:
                run_.advance()
        if not _due(acted, loop):
            continue
        if _read(acted, loop) != _read(still, loop):
            return time
        stand = (acted.configuration(whole), still.configuration(whole))
        if stand in before:  # both go on as they did from there
            return None
        before.add(stand)
    return None


def _due(run: Execution, loop: SampledLoop) -> bool:
    phase = run.phase_of(loop)
    return run.time >= phase and (run.time - phase) % loop.period == 0


def _read(run: Execution, loop: SampledLoop) -> tuple[object, ...]:
    """Returns every number that the loop's decision compares, as its sample of this instant sees it."""
    view = View(run, run.time, run.seen, loop.name)
    return tuple(evaluate(tree, view) for tree in _looked_at(loop))


def _looked_at(loop: SampledLoop) -> Iterator[Tree]:
    if loop.measured is not None and loop.law == "proportional":
        yield loop.measured
    for condition in (loop.trigger, loop.enter, loop.leave, *(rule.when for rule in loop.rules)):
        if condition is not None:
            yield from (
                side for node in walk(condition) if isinstance(node, Compare) for side in (node.left, node.right)
            )


def _answer(question: Question, subject: Subject, group: Group, loop: SampledLoop, overshoot: Overshoot) -> Finding:
    model, settles = group.model, settled(overshoot.run)
    end, explained = overshoot.run.instants[-1].time, _promised(subject, loop)
    broken = tried(lambda: breaks(subject, model, overshoot.run.choices, end)) if explained else None
    wait = next((w for w in _waits(loop, overshoot) if _mends(subject, group, loop, w)), None)
    numbers: Numbers = {
        "period": (loop.period, "s"), "effect seen after": (overshoot.lag, "s"), "reaches": (overshoot.after, ""),
        "settles at" if settles else "operating point": (overshoot.rest, ""),
    }  # fmt: skip
    apart = render_seconds(overshoot.second - overshoot.first)
    message = (
        f"{loop.name} acts again {apart} after an action that it sees only after "
        f"{render_seconds(overshoot.lag)}: {loop.signal} goes to {shown(model, loop.signal, overshoot.after)} where "
        f"{_about(group, loop, overshoot.rest)} would do"
    )
    places = (place(loop), *_delays(loop))
    instants = broken.instants if broken else overshoot.run.instants[: overshoot.end]
    evidence = witnessed(model, overshoot.run.choices, tuple(instants), "exact execution", numbers)
    if evidence is None or wait is None or (explained and broken is None):
        return question.note(message, places, (loop.name,), evidence or arithmetic(numbers))
    if broken is not None:
        places = (*places, broken.promise.place.labelled("this promise is broken on the way"))
    of = (loop.name, *((broken.promise.name,) if broken and broken.promise.name else ()))
    return question.conflict(
        message, places, of, evidence, certain=False,
        assumptions=(*told_choices(model, overshoot.run.choices), *model.abstractions),
        repairs=_repairs(subject, loop, wait),
    )  # fmt: skip


def _about(group: Group, loop: SampledLoop, rest: Fraction) -> str:
    short = rest if rest.denominator < 1000 else Fraction(f"{float(rest):.4g}")
    return shown(group.model, loop.signal, short)


def _promised(subject: Subject, loop: SampledLoop) -> bool:
    """Returns whether the design itself says, by a promise, what matters about this command."""
    model = subject.model
    stated = [p.condition.tree for p in model.promises.values() if p.condition is not None and p.kind != "sends"]
    return any(loop.signal in influences(model, names_of(rename(tree, model.resolve))) for tree in stated)


def _waits(loop: SampledLoop, overshoot: Overshoot) -> list[Fraction]:
    """Cooldowns after which the action is seen: at all, surely, and through the whole sensor chain."""
    chain = sensor_delay(loop.source.target.sensor)[1] if loop.source.target else Fraction(0)
    return [
        w
        for w in dict.fromkeys((overshoot.lag - loop.period, overshoot.lag, overshoot.lag + chain))
        if w > (loop.cooldown or 0)
    ]


def _mends(subject: Subject, group: Group, loop: SampledLoop, wait: Fraction) -> bool:
    """Returns whether every run with this cooldown settles without passing so far, and keeps the promises."""
    model = altered(group.model, loop, cooldown=wait)
    again = Group(tuple(x for x in model.loops if x.name in group.names), model)
    changed = next(x for x in again.loops if x.name == loop.name)
    runs = tried(lambda: runs_of(model)) or ()
    return bool(runs) and all(_calm(subject, again, changed, run) for run in runs)


def _calm(subject: Subject, group: Group, loop: SampledLoop, run: LongRun) -> bool:
    calm = settled(run) and tried(lambda: (overshoot(group, loop, run, None),)) == (None,)
    return calm and _keeps_promises(subject, group, run)


def _keeps_promises(subject: Subject, group: Group, run: LongRun) -> bool:
    """Returns whether the run breaks no `always` or `never` promise up to its end."""
    return tried(lambda: (breaks(subject, group.model, run.choices, run.instants[-1].time),)) == (None,)


def _delays(loop: SampledLoop) -> Iterator[Place]:
    timescale = loop.source.timescale
    if timescale is not None and timescale.period is not None:
        yield timescale.period.place.labelled(f"{loop.name} decides this often")
    if loop.source.target is not None:
        for link in loop.source.target.sensor:
            if link.duration is not None:
                yield link.place.labelled("adds to the age of what it reads")


def _repairs(subject: Subject, loop: SampledLoop, wait: Fraction) -> list[Repair]:
    """Returns a cooldown that lasts until the action is seen."""
    timescale = loop.source.timescale
    if timescale is None:
        return []
    if timescale.cooldown is not None:
        repair = repairs.proposal(repairs.change(subject, timescale.cooldown, wait))
        return [repair] if repair else []
    beside = (timescale.period, timescale.hold_down, timescale.phase, timescale.lands)
    written = [x.place for x in beside if x is not None and x.place.file in subject.sources]
    text = repairs.duration_text(subject, wait)
    repair = repairs.proposal(repairs.insert(subject, written[0], "cooldown", text)) if written else None
    return [repair] if repair else []
