"""Proves that loops come to rest because each of their commands is only ever moved one way.

A command that no rule lowers, and that rules raise in fixed steps up to one bound, changes finitely often; so does one
that every rule sets to the same value.  What would move it the other way must never act: that is one promise, `never`
any of these conditions, which the prover of promises decides.  Windows and rate limits, which change steps, are left
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.findings.finding import Evidence, Grade
from coherence.findings.question_input import Certificate, rational
from coherence.language.expressions import walk
from coherence.language.expressions.tree import Held, Logic, Name, Number, Tree
from coherence.language.schema_kinds import Formula
from coherence.language.sentences import Promise
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.orbits import LongRun
from coherence.simulate.execute.slices import modes_read

UP, DOWN = "up", "down"


@dataclass(frozen=True)
class OneWayMove:
    """What a loop may do to its command: the way (up, down, or the value that it sets), the size, and when."""

    loop: SampledLoop
    way: str | Fraction
    size: Fraction
    when: Tree | None  # None: whenever it is asked


def comes_to_rest(model: Model, loops: Sequence[SampledLoop], runs: Sequence[LongRun], limit: float) -> Evidence | None:
    """Returns the proof that each command of these loops is moved one way only; None where that is not shown."""
    if modes_read(model) & {loop.name for loop in loops}:
        return None  # a loop may go on and off for ever and write one value: what moves is what reads that
    signals = dict.fromkeys(loop.signal for loop in loops if loop.signal)
    moves = []
    for signal in signals:
        writers = [loop for loop in model.loops if loop.signal == signal]
        if not all(map(_moves, writers)) or (len(writers) > 1 and any(loop.lands for loop in writers)):
            return None  # of two writers, what one commands may land after what the other one did
        moves += [move for loop in writers for move in _moves(loop) or ()]
    against: list[OneWayMove] = []
    for signal in signals:
        own = [move for move in moves if move.loop.signal == signal]
        ways = {way for run in runs for way in _ways(run, own)} or {own[0].way}
        if len(ways) > 1 or not _ends([move for move in own if move.way in ways]):
            return None
        against += [move for move in own if move.way not in ways]
    return _never(model, against, [move for move in moves if move not in against], limit)


def _moves(loop: SampledLoop) -> tuple[OneWayMove, ...] | None:
    """Returns what the loop may do to its command, in fixed steps or to fixed values; None where that is not so."""
    if loop.rates or loop.hold_down or loop.hold_up or loop.law not in ("step", "rules", "set"):
        return None
    triggered = Name(loop.name) if loop.relay or loop.trigger is not None else None
    stated = tuple(_move(loop, rule.when, rule.by, rule.to) for rule in loop.rules)
    moves = stated or (_move(loop, triggered, loop.by, loop.to),)
    unclear = any(move is None for move in moves) or (loop.rules and triggered is not None)
    return None if unclear else tuple(move for move in moves if move is not None)


def _move(loop: SampledLoop, when: Tree | None, by: Tree | None, to: Tree | None) -> OneWayMove | None:
    if when is not None and any(isinstance(node, Held) for node in walk(when)):
        return None  # since when it holds, the loop counts in samples of its own
    if isinstance(to, Number) and by is None:
        return OneWayMove(loop, loop.bounds.clip(to.value), Fraction(0), when)
    if isinstance(by, Number) and to is None and by.value:
        return OneWayMove(loop, UP if by.value > 0 else DOWN, abs(by.value), when)
    return None


def _ends(moves: Sequence[OneWayMove]) -> bool:
    """Returns whether so many moves of one way are possible and no more: steps go up to one bound, the same for all.

    A loop that steps up takes a command above its own bound down to it.
    """
    edges = {(move.loop.bounds.high if move.way == UP else move.loop.bounds.low) for move in moves if move.size}
    return None not in edges and len(edges) < 2


def _ways(run: LongRun, moves: Sequence[OneWayMove]) -> Iterator[str | Fraction]:
    """Yields the ways in which the loops of these moves act in a run."""
    names = {move.loop.name: {other.way for other in moves if other.loop is move.loop} for move in moves}
    for instant in run.instants:
        for action in instant.actions:
            if action.loop in names:
                before, after = plain(action.before), plain(action.after)
                way = UP if after > before else DOWN
                yield after if after in names[action.loop] else way


def _never(model: Model, against: Sequence[OneWayMove], others: Sequence[OneWayMove], limit: float) -> Evidence | None:
    """Returns the proof that none of the moves against the way is ever made."""
    if any(move.when is None for move in against):
        return None
    steps = [f"(> {rational(move.size)} 0.0)" for move in others if isinstance(move.way, str)]
    if not against:
        script = Certificate(claim=f"(and true {' '.join(steps)})").script()
        return Evidence(Grade.PROVED, "each command is moved one way, up to its bound", certificate=script)
    from coherence.verify.promises.decisions import Proved, decide

    conditions = tuple(dict.fromkeys(move.when for move in against if move.when is not None))
    tree = conditions[0] if len(conditions) == 1 else Logic("or", conditions)
    source = against[0].loop.source
    text = " and ".join(dict.fromkeys(f"{move.loop.name} never acts" for move in against))
    promise = Promise("never", text, source.place, condition=Formula(tree, text, source.place))
    outcome = decide(model, promise, time_limit=limit)
    if not isinstance(outcome, Proved):
        return None
    method = f"each command is moved one way, up to its bound: {outcome.method}"
    return Evidence(Grade.PROVED, method, certificate=outcome.certificate)
