"""Claims that the whole state of a run is equal at two times, so that it repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.lower_smt import real
from coherence.language.expressions.tree import Held, Tree, walk
from coherence.model.model import SampledLoop
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.certificates.run_followed import Follower, Remembered, Timed
from coherence.simulate.execute.certificates.run_frames import literal
from coherence.simulate.execute.exact import Instant
from coherence.simulate.execute.lookback import longest_streak
from coherence.simulate.execute.orbits import hyperperiod, is_clocked

Known = dict[str, Any]


def known(follower: Follower, instant: Instant, looked: Sequence[Tree] = (), again: Fraction | None = None) -> Known:
    """Returns everything that decides the future after an instant, times relative to it: name -> number or truth.

    `looked`: what else is looked at in every instant; `again`: with what period the schedule comes again (s).
    """
    model, now = follower.model, instant.time
    claims: Known = {path: instant.after[path] for path in (*model.states, *model.commands)}
    claims |= {f"{path} as commanded": value for path, value in follower.commanded.items()}
    claims |= {loop.name: instant.after[loop.name] for loop in model.loops}
    claims |= {path: instant.after[path] for _, path, _ in follower.run.choices.schedule}
    if again is None:
        claims |= _timed("scheduled", [(at, value) for at, _, value in follower.scheduled], now)
        claims |= {f"scheduled {n} of {path}": True for n, (_, path, _) in enumerate(follower.scheduled)}
    claims |= _timed("landing", [(at, value) for at, _, value in follower.pending], now)
    claims |= {f"landing {n} on {path}": True for n, (_, path, _) in enumerate(follower.pending)}
    for loop in model.loops:
        claims |= _remembered(loop, follower.memory[loop.name], now)
    durations = [n.duration for tree in looked for n in walk(tree) if isinstance(n, Held)]
    claims |= _streaks(follower, now, max([longest_streak(model), *durations]))
    return claims | _past(follower, now)


def recurs(
    follower: Follower, first: Known, last: Known, between: Fraction, again: Fraction | None = None
) -> Iterator[str]:
    """Claims that two times are alike.  Raises NotExactError where what is remembered differs in kind."""
    if first.keys() != last.keys():
        raise NotExactError("a run that does not recur exactly")
    for name, value in first.items():
        yield f"(= {literal(value)} {literal(last[name])})"
    model = follower.model
    for whole in (*([hyperperiod(model)] if is_clocked(model) else []), *([] if again is None else [again])):
        yield f"(= {real(between)} (* {real(between // whole)} {real(whole)}))"


def _timed(name: str, entries: list[tuple[Fraction, Any]], now: Fraction) -> Known:
    made: Known = {}
    for number, (at, value) in enumerate(entries):
        made |= {f"{name} {number} since": at - now, f"{name} {number}": value}
    return made


def _remembered(loop: SampledLoop, memory: Remembered, now: Fraction) -> Known:
    reach = max(loop.hold_down, loop.hold_up)
    window = max((rate.per for rate in loop.rates), default=Fraction(0))
    facts = _timed(f"{loop.name} wanted", _last_of_equal([e for e in memory.wanted if e[0] >= now - reach]), now)
    facts |= _timed(f"{loop.name} changed by", [(at, v) for at, v in memory.changes if at > now - window and v], now)
    facts[f"{loop.name} done"] = memory.done
    if memory.changed is not None and loop.cooldown is not None:
        facts[f"{loop.name} changed"] = min(now - memory.changed, loop.cooldown + loop.period)
    return facts


def _last_of_equal(wanted: Timed) -> Timed:
    """Returns the last of each row of equal values: it leaves a window last, and the largest and smallest with it."""
    following = [value for _, value in wanted[1:]]
    return [entry for entry, value in zip(wanted, following, strict=False) if entry[1] != value] + wanted[-1:]


def _streaks(follower: Follower, now: Fraction, longest: Fraction) -> Known:
    """How long each condition has been true (cut at the longest that is asked for), and each value at its sample."""
    facts: Known = {}
    for number, ((owner, _), log) in enumerate(follower.frames.truths.items()):
        since = None
        for at, truth in log:
            since = (at if since is None else since) if truth else None
        facts[f"streak {number} of {owner}"] = Fraction(-1) if since is None else min(now - since, longest)
    for number, ((owner, _), log) in enumerate(follower.frames.earlier.items()):
        facts[f"sample {number} of {owner}"] = log[-1][1]
    return facts


def _past(follower: Follower, now: Fraction) -> Known:
    """Returns what was sampled and left by the instants that are remembered, this one included."""
    horizon = follower.execution.horizon
    if horizon is None:
        return {}
    instants = follower.run.instants[: follower.frames.count + 1]
    old = [i for i in instants if i.time <= now - horizon][-1:]
    facts: Known = {}
    for number, instant in enumerate([*old, *(i for i in instants if i.time > now - horizon)]):
        facts[f"instant {number} since"] = instant.time - now
        facts |= _values(f"sampled {number}", follower, instant.sampled)
        facts |= _values(f"left {number}", follower, instant.after)
    return facts


def _values(name: str, follower: Follower, values: Mapping[str, Any]) -> Known:
    model = follower.model
    modes = [loop.name for loop in model.loops]
    return {f"{name} {path}": _plain(values[path]) for path in (*model.states, *model.commands, *modes)}


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool) else plain(value)
