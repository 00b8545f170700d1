"""The arithmetic of runs that recur, as SMT-LIB: what loops wrote and what stepped, again from the formulas.

Each instant has one claim per loop that was due and per value that stepped: the law, its windows and
bounds over the numbers that were seen give the number that was written.  With the claim that the last
instant leaves what an earlier one left, a solver re-checks the whole run that an executor reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from coherence.expressions.evaluate import NotExactError, evaluate
from coherence.expressions.lower_smt import lower_smt, real
from coherence.expressions.tree import Arithmetic, Call, Choose, Compare, Held, Logic, Name, Number, Tree, Truth
from coherence.model import Interval, Model, SampledLoop
from coherence.simulate.affine import plain
from coherence.simulate.exact import Execution, Instant, is_due
from coherence.simulate.orbits import LongRun
from coherence.simulate.past import duration_of
from coherence.solver import joined, unsat

MOST_CLAIMS, CHECK_MS = 4_000, 2_000
Values = Mapping[str, Any]


def certificate(model: Model, runs: Iterable[LongRun], promise: tuple[str, Tree] | None = None) -> str | None:
    """A script to be refuted: no run does otherwise at any instant up to its recurrence; None where it is not carried.

    `promise`: (kind, condition) that is claimed too.  Not carried: flows, rate limits, `once`, `for`, means.
    """
    scripts, left = [], MOST_CLAIMS
    try:
        for run in runs:
            claims = [*_Follower(model, run).claims(), *(_kept(model, run, *promise) if promise else ())]
            left -= len(claims)
            if left < 0:
                return None
            scripts.append(_script(claims))
    except NotExactError:
        return None
    script = joined(scripts)
    return script if scripts and unsat(script, timeout_ms=CHECK_MS).unsat else None


def _script(claims: list[str]) -> str:
    body = "\n  ".join(claims)
    return f"(set-logic QF_NIRA)\n(assert (not (and true\n  {body})))\n(check-sat)\n"


def _literal(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else real(Fraction(plain(value)))


def _equal(term: str, value: Any) -> str:
    return f"(= {term} {_literal(value)})"


class _Numbers:
    """An environment without names: every name has become a number."""

    time = Fraction(0)

    def value(self, path: str) -> Any:
        raise NotExactError(f"{path} is open")


@dataclass
class _Follower:
    """Follows one run, with what its loops remember."""

    model: Model
    run: LongRun
    modes: dict[str, bool] = field(default_factory=dict)
    commanded: dict[str, Fraction] = field(default_factory=dict)
    wanted: dict[str, list[tuple[Fraction, Fraction]]] = field(default_factory=dict)
    changed: dict[str, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.execution = Execution(self.model, self.run.choices)
        self.origin = self.execution.base()
        self.commanded = {path: plain(self.origin[path]) for path in self.model.commands}
        self.past: list[Instant] = []
        if any(s.flow is not None for s in self.model.states.values()) or self.run.choices.schedule:
            raise NotExactError("flows and schedules are not carried")

    def claims(self) -> Iterator[str]:
        """Claims of every instant, then that the run recurs."""
        for instant in self.run.instants:
            seen = dict(instant.sampled)
            for loop in self.execution.order:
                if is_due(self.execution.phase_of(loop), loop.period, instant.time):
                    yield from self._decided(loop, instant, seen)
            yield from self._stepped(instant)
            self.past.append(instant)
        orbit = self.run.orbit
        if orbit is None or not orbit.exact:
            raise NotExactError("a run that does not recur exactly")
        before = next((i for i in reversed(self.past) if i.time < orbit.lap[0].time), None)
        first = before.after if before is not None else self.origin
        last = self.run.instants[-1].after
        yield from (_equal(_literal(first[path]), last[path]) for path in (*self.model.states, *self.model.commands))

    # -- one loop ---------------------------------------------------------------------------------

    def _decided(self, loop: SampledLoop, instant: Instant, seen: dict[str, Any]) -> Iterator[str]:
        if loop.rates or loop.mode != "always":
            raise NotExactError("rate limits and `once` are not carried")
        mode = bool(instant.after[loop.name])
        wish: str | None
        if loop.rules:
            number = self._rule(loop, instant, seen)
            yield from self._rules(loop, instant, seen, number)
            wish = None if number is None else self._step(loop.rules[number][1:], loop, instant, seen)
        else:
            yield self._mode(loop, instant, seen, mode)
            wish = self._law(loop, instant, seen) if mode and loop.law != "none" else None
        seen[loop.name] = mode
        if wish is not None:
            yield from self._written(loop, instant, seen, wish)

    def _mode(self, loop: SampledLoop, instant: Instant, seen: Values, mode: bool) -> str:
        if loop.enter is not None and loop.leave is not None:
            enter, leave = self._term(loop.enter, instant, seen), self._term(loop.leave, instant, seen)
            return _equal(f"(or {enter} (and {_literal(bool(seen[loop.name]))} (not {leave})))", mode)
        return _equal("true" if loop.trigger is None else self._term(loop.trigger, instant, seen), mode)

    def _rule(self, loop: SampledLoop, instant: Instant, seen: Values) -> int | None:
        whens = (self._ground(when, instant.time, seen) for when, _, _ in loop.rules)
        return next((k for k, when in enumerate(whens) if evaluate(when, _Numbers())), None)  # type: ignore[arg-type]

    def _rules(self, loop: SampledLoop, instant: Instant, seen: Values, number: int | None) -> Iterator[str]:
        for k, (when, _, _) in enumerate(loop.rules):
            if number is None or k <= number:
                yield _equal(self._term(when, instant, seen), k == number)

    def _step(self, parts: tuple[Tree | None, ...], loop: SampledLoop, instant: Instant, seen: Values) -> str:
        by, to = parts
        if to is not None:
            return self._term(to, instant, seen)
        current = real(self.commanded[loop.signal])
        return current if by is None else f"(+ {current} {self._term(by, instant, seen)})"

    def _law(self, loop: SampledLoop, instant: Instant, seen: Values) -> str:
        if loop.law != "proportional":
            return self._step((loop.by, loop.to), loop, instant, seen)
        assert loop.measured is not None
        assert loop.setpoint is not None
        current = real(self.commanded[loop.signal] if loop.counts_commanded else Fraction(plain(seen[loop.signal])))
        ratio = f"(/ {self._term(loop.measured, instant, seen)} {self._term(loop.setpoint, instant, seen)})"
        moved = f"(* {current} ratio!)"
        moved = f"(- (to_real (to_int (- {moved}))))" if loop.integer else moved
        low, high = real(1 - loop.tolerance), real(1 + loop.tolerance)
        return f"(let ((ratio! {ratio})) (ite (and (<= {low} ratio!) (<= ratio! {high})) {current} {moved}))"

    def _written(self, loop: SampledLoop, instant: Instant, seen: dict[str, Any], wish: str) -> Iterator[str]:
        """Windows, bounds, cooldown, range: what the loop then commands is what the run says."""
        before = self.commanded[loop.signal]
        action = next((a for a in instant.actions if a.loop == loop.name), None)
        after = before if action is None else Fraction(plain(action.after))
        value = _clipped(self._held(loop, instant.time, wish, before), loop.bounds)
        inside = _clip(before, loop.bounds)
        if inside != before and loop.law == "proportional":
            value = real(inside)
        cooling = loop.cooldown is not None and instant.time - self.changed.get(loop.name, -loop.cooldown - 1) <= (
            loop.cooldown
        )
        if not cooling:
            yield _equal(_clipped(value, self.model.commands[loop.signal].range), after)
        self.commanded[loop.signal] = after
        if action is not None:
            self.changed[loop.name] = instant.time
            if not loop.lands:
                seen[loop.signal] = after

    def _held(self, loop: SampledLoop, time: Fraction, wish: str, before: Fraction) -> str:
        if not (loop.hold_down or loop.hold_up):
            return wish
        kept: list[tuple[Fraction, str]] = self.__dict__.setdefault(f"wishes of {loop.name}", [])
        kept.append((time, wish))
        down = [w for at, w in kept if at >= time - loop.hold_down] if loop.hold_down else [wish]
        up = [w for at, w in kept if at >= time - loop.hold_up] if loop.hold_up else [wish]
        less, more = (f"(ite (<= held! {real(before)}) held! {real(before)})", _largest(down, ">="))
        other, least = (f"(ite (>= held! {real(before)}) held! {real(before)})", _largest(up, "<="))
        lowered = f"(let ((held! {more})) {less})" if loop.hold_down else "wish!"
        raised = f"(let ((held! {least})) {other})" if loop.hold_up else "wish!"
        falls, rises = f"(< wish! {real(before)})", f"(> wish! {real(before)})"
        return f"(let ((wish! {wish})) (ite {falls} {lowered} (ite {rises} {raised} wish!)))"

    # -- steps --------------------------------------------------------------------------------------

    def _stepped(self, instant: Instant) -> Iterator[str]:
        world = {**instant.sampled, **{p: instant.after[p] for p in self.model.commands}}
        world |= {loop.name: instant.after[loop.name] for loop in self.model.loops}
        for path, state in self.model.states.items():
            if state.next is not None and state.step and is_due(Fraction(0), state.step, instant.time):
                yield _equal(_clipped(self._term(state.next, instant, world), state.range), instant.after[path])

    # -- expressions over numbers -----------------------------------------------------------------------

    def _term(self, tree: Tree, instant: Instant, seen: Values) -> str:
        return lower_smt(self._ground(tree, instant.time, seen))

    def _ground(self, tree: Tree, time: Fraction, seen: Values) -> Tree:
        """The expression with numbers for names, and what was then for what it reads of the past."""
        match tree:
            case Name(path=path) if path in seen:
                value = seen[path]
                return Truth(value) if isinstance(value, bool) else Number(Fraction(plain(value)))
            case Name(path=path):
                return self._ground(self.execution.output(path), time, seen)
            case Call(function="delayed" | "sampled" as function, arguments=(inner, _)):
                seconds = duration_of(tree, self.origin)
                back = time % seconds if function == "sampled" and seconds else seconds
                return self._ground(inner, time - back, self._then(time - back) if back else seen)
            case Held() | Call(function="mean_over" | "max_over" | "previous"):
                raise NotExactError("streaks, means and earlier samples are not carried")
            case Call(function=function, arguments=arguments):
                return Call(function, tuple(self._ground(a, time, seen) for a in arguments))
            case Arithmetic(op=op, left=left, right=right):
                return Arithmetic(op, self._ground(left, time, seen), self._ground(right, time, seen))
            case Compare(op=op, left=left, right=right):
                return Compare(op, self._ground(left, time, seen), self._ground(right, time, seen))
            case Logic(op=op, terms=terms):
                return Logic(op, tuple(self._ground(t, time, seen) for t in terms))
            case Choose(condition=condition, then=then, otherwise=otherwise):
                parts = [self._ground(part, time, seen) for part in (condition, then, otherwise)]
                return Choose(parts[0], parts[1], parts[2])
        return tree

    def _then(self, time: Fraction) -> Values:
        """What was sampled at a time, or what was left by the instant before it."""
        before = next((i for i in reversed(self.past) if i.time <= time), None)
        if before is None or time < 0:
            return self.origin
        return before.sampled if before.time == time else before.after


def _kept(model: Model, run: LongRun, kind: str, condition: Tree) -> Iterator[str]:
    """The promise over the numbers of the run and its lap."""
    follower, orbit = _Follower(model, run), run.orbit
    assert orbit is not None

    def term(instant: Instant, values: Values) -> str:
        return follower._term(condition, instant, values)  # noqa: SLF001

    if kind in ("always", "never"):
        every = [term(i, values) for i in run.instants for values in (i.sampled, i.after)]
        yield from (_equal(text, kind == "always") for text in every)
    elif kind == "eventually_always":
        yield from (term(i, i.after) for i in orbit.lap)
    else:
        yield f"(or {' '.join(term(i, i.after) for i in run.instants)})"


def _clip(value: Fraction, span: Interval) -> Fraction:
    low = value if span.low is None else max(value, span.low)
    return low if span.high is None else min(low, span.high)


def _clipped(term: str, span: Interval) -> str:
    made = term
    if span.high is not None:
        made = f"(let ((top! {made})) (ite (> top! {real(span.high)}) {real(span.high)} top!))"
    if span.low is not None:
        made = f"(let ((low! {made})) (ite (< low! {real(span.low)}) {real(span.low)} low!))"
    return made


def _largest(terms: list[str], op: str) -> str:
    made = terms[0]
    for term in dict.fromkeys(terms[1:]):
        made = f"(let ((one! {made}) (other! {term})) (ite ({op} one! other!) one! other!))"
    return made
