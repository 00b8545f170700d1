"""Follows one run instant by instant and claims each value again that was decided, landed, stepped or flowed.

The claims are formulas of the design over the numbers of the run: they know the meaning of laws, windows, rate
limits and streaks (model.md rules 1 to 6) and nothing of how the executor computed them.  The law of an autoscaler
is therefore written here once more, in another form than in `coherence.model.laws`: a second opinion, kept apart on
purpose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.lower_smt import lower_smt, real
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Number, Tree
from coherence.model.model import Interval, Model, RateLimit, SampledLoop
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.certificates.run_frames import Frame, RunFrames, equal, leaf, number_of, while_moving
from coherence.simulate.execute.exact import Execution, Instant
from coherence.simulate.execute.orbits import LongRun
from coherence.simulate.execute.schedules import is_due

ZERO = Fraction(0)
Timed = list[tuple[Fraction, Fraction]]


@dataclass(slots=True)
class Remembered:
    """What one loop remembers: what it wanted, what its rate limits count from, its last change, whether it is done."""

    wanted: Timed = field(default_factory=list)
    changes: Timed = field(default_factory=list)
    changed: Fraction | None = None
    done: bool = False


class Follower:
    """Follows one run, with what its loops remember.  `claims` are those of the instants followed so far."""

    def __init__(self, model: Model, run: LongRun) -> None:
        self.model, self.run = model, run
        self.execution = Execution(model, run.choices)
        self.scheduled = [*self.execution.schedule]  # that has not come yet, by time
        if any(path not in model.constants and path not in model.inputs for _, path, _ in self.scheduled):
            raise NotExactError("schedules of what is computed are not carried")
        self.frames = RunFrames(self.execution, run.instants)
        self.claims = self.frames.claims
        origin = self.frames.origin
        self.left = dict(origin)  # by the last instant
        self.commanded = {path: plain(origin[path]) for path in model.commands}
        self.memory = {loop.name: Remembered() for loop in model.loops}
        self.pending: list[tuple[Fraction, str, Fraction]] = []

    def follow(self, number: int) -> Instant:
        """Claim everything of one instant.  Raises NotExactError."""
        instant, frames = self.run.instants[number], self.frames
        frames.count = number
        self._on_time(number)
        self._arrived(number)
        seen = dict(instant.sampled)
        for loop in self.execution.order:
            if is_due(self.execution.phase_of(loop), loop.period, instant.time):
                self._decided(loop, instant, seen)
        self._stepped(instant, seen)
        self.left = dict(instant.after)
        return instant

    def _same(self, one: Any, other: Any) -> None:
        self._equal(leaf(one), other)

    def _equal(self, formula: Tree, value: Any) -> None:
        """Claim that a formula has the value of the run; what is plainly wrong needs no solver."""
        if number_of(formula) != value:
            raise NotExactError("a number that its formula does not give")
        self.claims.append(equal(formula, value))

    # -- between instants -----------------------------------------------------------------------------

    def _on_time(self, number: int) -> None:
        """No loop, step or landing is missed between an instant and the one before it."""
        now, execution = self.run.instants[number].time, self.execution
        since = self.run.instants[number - 1].time if number else None
        clocks = [(execution.phase_of(loop), loop.period) for loop in self.model.loops]
        clocks += [(ZERO, state.step) for state in self.model.states.values() if state.step]
        if any(_next(phase, period, since) < now for phase, period in clocks):
            raise NotExactError("an instant that the run leaves out")
        if any(at < now for at, *_ in (*self.pending, *self.scheduled)):
            raise NotExactError("a landing that the run leaves out")

    def _arrived(self, number: int) -> None:
        """What is sampled is what the instant before left, what has landed, and what has flowed."""
        instant = self.run.instants[number]
        world = {**self.left, **{path: value for at, path, value in self.scheduled if at <= instant.time}}
        self.scheduled = [entry for entry in self.scheduled if entry[0] > instant.time]
        for _, path, value in sorted((p for p in self.pending if p[0] <= instant.time), key=lambda p: p[0]):
            world = {**world, path: value}
        self.pending = [p for p in self.pending if p[0] > instant.time]
        for path in instant.sampled:
            if path not in self.frames.flowing or not number:
                self._same(world[path], instant.sampled[path])
        if number and self.frames.flowing:
            self.flowed(number - 1)

    def flowed(self, number: int) -> None:
        """After an instant each flowing state moves as its flow says at every time until the next, or is stopped."""
        frames, low = self.frames, self.run.instants[number].time
        high = self.run.instants[number + 1].time
        if low == high:
            return
        piece = frames.along(low, high, count=number + 1)
        for path in frames.flowing:
            state = self.model.states[path]
            assert state.flow is not None
            flow, rate = lower_smt(frames.ground(state.flow, piece)), piece.rates[path]
            here = plain(piece.values[path])
            same = f"(= {flow} {real(rate)})"
            if not rate and here == state.range.low:
                same = f"(<= {flow} 0.0)"
            elif not rate and here == state.range.high:
                same = f"(>= {flow} 0.0)"
            self.claims.append(while_moving(high - low, same))
            self._inside(here + rate * (high - low), state.range)

    def _inside(self, value: Fraction, span: Interval) -> None:
        if span.low is not None:
            self.claims.append(f"(<= {real(span.low)} {real(value)})")
        if span.high is not None:
            self.claims.append(f"(<= {real(value)} {real(span.high)})")

    # -- one loop ---------------------------------------------------------------------------------------

    def _decided(self, loop: SampledLoop, instant: Instant, seen: dict[str, Any]) -> None:
        frame, memory = Frame(instant.time, seen, loop.name), self.memory[loop.name]
        action = next((a for a in instant.actions if a.loop == loop.name), None)
        wish: Fraction | None = None
        if loop.rules:
            number = self._rule(loop, frame)
            mode = number is not None
            if number is not None:
                rule = loop.rules[number]
                wish = self._step((rule.by, rule.to), loop, frame)
        else:
            mode = self._mode(loop, frame)
            if mode and loop.law != "none" and not (loop.mode == "once" and memory.done):
                memory.done = True
                wish = self._law(loop, frame)
        self._same(mode, bool(instant.after[loop.name]))
        seen[loop.name] = mode
        if wish is not None:
            self._written(loop, instant, seen, wish)
        elif action is not None:
            raise NotExactError("an action without a wish")

    def _mode(self, loop: SampledLoop, frame: Frame) -> bool:
        if loop.enter is not None and loop.leave is not None:
            enter, leave = self.frames.ground(loop.enter, frame), self.frames.ground(loop.leave, frame)
            stays = Logic("and", (leaf(bool(frame.values[loop.name])), Logic("not", (leave,))))
            return bool(self.frames.claimed(Logic("or", (enter, stays))))
        return True if loop.trigger is None else bool(self.frames.settled(loop.trigger, frame))

    def _rule(self, loop: SampledLoop, frame: Frame) -> int | None:
        """The first rule whose condition is true; all are looked at, since their streaks are kept."""
        whens = [bool(self.frames.settled(rule.when, frame)) for rule in loop.rules]
        return next((k for k, when in enumerate(whens) if when), None)

    def _step(self, parts: tuple[Tree | None, ...], loop: SampledLoop, frame: Frame) -> Fraction:
        by, to = parts
        current: Tree = Number(self.commanded[loop.signal])
        if to is not None:
            return self._number(self.frames.ground(to, frame))
        return self._number(current if by is None else Arithmetic("+", current, self.frames.ground(by, frame)))

    def _number(self, formula: Tree) -> Fraction:
        return Fraction(self.frames.claimed(formula))

    def _law(self, loop: SampledLoop, frame: Frame) -> Fraction:
        if loop.law != "proportional":
            return self._step((loop.by, loop.to), loop, frame)
        assert loop.measured is not None
        assert loop.setpoint is not None
        current = self.commanded[loop.signal] if loop.counts_commanded else Fraction(plain(frame.values[loop.signal]))
        measured, wanted = self.frames.ground(loop.measured, frame), self.frames.ground(loop.setpoint, frame)
        ratio = Number(self._number(Arithmetic("/", measured, wanted)))
        members = Number(current if loop.ready is None else self._number(self.frames.ground(loop.ready, frame)))
        moved: Tree = Arithmetic("*", members, ratio)
        near = _near(ratio, loop.tolerance)
        if loop.ready is not None and loop.idle and current and ratio.value > 1:
            spread = Number(self._number(Arithmetic("/", moved, Number(current))))
            near = Logic("or", (_near(spread, loop.tolerance), Compare("<", spread, Number(Fraction(1)))))
        return self._number(Choose(near, Number(current), Call("ceil", (moved,)) if loop.integer else moved))

    def _written(self, loop: SampledLoop, instant: Instant, seen: dict[str, Any], wish: Fraction) -> None:
        """Windows, rate limits, bounds, cooldown, range: what the loop then commands is what the run says."""
        before, memory, time = self.commanded[loop.signal], self.memory[loop.name], instant.time
        action = next((a for a in instant.actions if a.loop == loop.name), None)
        after = before if action is None else Fraction(plain(action.after))
        outside = loop.law == "proportional" and loop.bounds.clip(before) != before
        wish = before if outside else self._limited(loop, time, wish, before)
        value = self._number(_clipped(Number(wish), loop.bounds))
        cooling = loop.cooldown is not None and memory.changed is not None and time - memory.changed <= loop.cooldown
        if cooling and value != before:
            self._same(before, after)
            return
        if loop.rates:
            memory.changes.append((time, value - before))
        self._equal(_clipped(Number(value), self.model.commands[loop.signal].range), after)
        self._commanded(loop, time, before, after, seen)

    def _commanded(
        self, loop: SampledLoop, time: Fraction, before: Fraction, after: Fraction, seen: dict[str, Any]
    ) -> None:
        self.commanded[loop.signal] = after
        if after != before:
            self.memory[loop.name].changed = time
        if loop.lands:
            self.pending.append((time + loop.lands, loop.signal, after))
        else:
            seen[loop.signal] = after

    def _limited(self, loop: SampledLoop, time: Fraction, wish: Fraction, before: Fraction) -> Fraction:
        """The wish within hold windows, then within rate limits."""
        memory, now = self.memory[loop.name], Number(before)
        if loop.hold_down or loop.hold_up:
            memory.wanted.append((time, wish))
            if wish < before and loop.hold_down:
                held = tuple(Number(w) for at, w in memory.wanted if at >= time - loop.hold_down)
                wish = self._number(Call("min", (Call("max", held), now)))
            elif wish > before and loop.hold_up:
                held = tuple(Number(w) for at, w in memory.wanted if at >= time - loop.hold_up)
                wish = self._number(Call("max", (Call("min", held), now)))
        if not loop.rates:
            return wish
        rising = wish > before
        limits = [rate for rate in loop.rates if (rate.up if rising else rate.down)]
        if wish == before or not limits:
            return wish
        edges = tuple(_edge(rate, memory.changes, before, time, rising=rising, whole=loop.integer) for rate in limits)
        outer, inner = ("min", "max") if rising else ("max", "min")
        return self._number(Call(outer, (Number(wish), Call(inner, (now, *edges)))))

    # -- steps ------------------------------------------------------------------------------------------

    def _stepped(self, instant: Instant, seen: dict[str, Any]) -> None:
        """What stepped is what its formula gives; the rest is as sampled or as it was written."""
        frame = Frame(instant.time, seen)
        for path, value in seen.items():
            state = self.model.states.get(path)
            due = state is not None and state.step and is_due(ZERO, state.step, instant.time)
            if due and state is not None and state.next is not None:
                formula = _clipped(self.frames.ground(state.next, frame), state.range)
                self._equal(formula, instant.after[path])
            else:
                self._same(value, instant.after[path])


def _near(ratio: Number, tolerance: Fraction) -> Tree:
    off = Call("abs", (Arithmetic("-", ratio, Number(Fraction(1))),))
    return Compare("<=", off, Number(tolerance))


def _next(phase: Fraction, period: Fraction, since: Fraction | None) -> Fraction:
    """The first time after `since` (or from 0 on) that is phase + k * period."""
    if since is None or since < phase:
        return phase
    return phase + (math.floor((since - phase) / period) + 1) * period


def _edge(rate: RateLimit, changes: Timed, before: Fraction, time: Fraction, *, rising: bool, whole: bool) -> Tree:
    """The farthest value that one rate limit allows: from the command less the loop's own changes since `per` ago."""
    start: Tree = Number(before)
    for change in (change for at, change in changes if at > time - rate.per and change):
        start = Arithmetic("-", start, Number(change))
    edge: Tree = Arithmetic("+" if rising else "-", start, Number(rate.by or ZERO))
    if rate.percent is None:
        return edge
    share = Arithmetic("+" if rising else "-", Number(Fraction(1)), Number(rate.percent))
    scaled: Tree = Arithmetic("*", start, share)
    scaled = Call("ceil" if rising else "floor", (scaled,)) if whole else scaled
    return Call("max" if rising else "min", (edge, scaled))


def _clipped(tree: Tree, span: Interval) -> Tree:
    made = tree if span.high is None else Call("min", (tree, Number(span.high)))
    return made if span.low is None else Call("max", (made, Number(span.low)))
