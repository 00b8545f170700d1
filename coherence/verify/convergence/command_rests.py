"""Proves that loops which step a command, or set it, come to rest: what some make of it never wakes the others.

A loop acts at a sample only where its condition holds of values that the command had within an age T before: delays,
windows, samplers and landing all look back no farther.  Let c_0, c_1, ... be the command after each write, U the values
at which a look lets some loop raise it, D those at which a look lets one lower it; of a condition with several looks
the lowest counts for U and the highest for D.

Derivation: let d > u + S and d > v + S for all u of U and d of D, where v is the largest value to which a loop sets
upward and S the sum over all loops of their step up times floor(T / P) + 1, P the least time between two changes of
that loop.  Call a value low where some u of U is not below it.  Let c_k be the last low one before a c_m of D.  Whoever
raises it from c_(k+1) on has looked at c_k or before, so does it at most T after write k + 1, and each loop at most
floor(T / P) + 1 times; so c_m <= max(c_k, v) + S, which is below every d: no such c_m comes.  So once a value is low,
lowering ends T later for ever, and where none is low any more raising ends.  From then on the command moves one way, by
a whole step each time or to a bound or a set value: finitely often.  Of loops that look at the present value one write
alone can cross from low to high, so the largest of their steps counts once.  The same holds with up and down exchanged,
and one of both suffices.  Everything else that conditions read (other commands, states, what varies) may take any
value of its range at each look.  Limit case: T = 0 and one loop each way: no step jumps across the dead band.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.clock import is_over
from coherence.base.solver import Outcome, joined, unsat
from coherence.findings.question_input import Certificate, rational
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Arithmetic, Compare, Logic, Name, Number, Tree
from coherence.language.schema_kinds import Quantity
from coherence.model.model import Model, SampledLoop, unit_of
from coherence.simulate.execute.open_ranges import one_ended
from coherence.simulate.execute.slices import modes_read
from coherence.simulate.execute.timeline import shown
from coherence.verify.convergence.command_moves import DOWN, UP, CommandMove, moves_of, writers_of
from coherence.verify.facts.satisfiability import SatQuery, read_model

HOW = "no value at which some loops move a command is followed by one at which the others do, by a solver"
WRITING = ("step", "set", "rules")  # laws whose moves are known before they are made
MOST_PAIRS = 24
CHECK_MS = 2_000


@dataclass(frozen=True)
class CommandRest:
    """A command that comes to rest: `making` may move it `way` by at most `unseen` before they see it, or to `level`,
    and that never wakes `others`, who alone move it the other way.

    `oldest`: how old what `making` look at may be (s).  `fixed`: open constants that are taken as one number each.
    """

    signal: str
    way: str
    making: tuple[str, ...]
    others: tuple[str, ...]
    unseen: Fraction
    level: Fraction | None
    oldest: Fraction
    script: str
    fixed: tuple[str, ...] = ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Returns what open constants are taken for."""
        return tuple(f"{path} is one unknown constant of its range" for path in self.fixed)

    def numbers(self, model: Model) -> dict[str, tuple[Fraction | float | int, str]]:
        """Returns how far the command goes on unseen, and how old what is seen may be (s)."""
        unit = str(unit_of(model, self.signal)) if unit_of(model, self.signal).powers else ""
        return {f"{self.signal} moved unseen": (self.unseen, unit), f"oldest look at {self.signal}": (self.oldest, "s")}

    def render(self, model: Model) -> str:
        """Returns why it comes to rest, in words."""
        if not self.making or not self.others:
            return f"{self.signal} is moved one way only, to a bound at most"
        making, others = " and ".join(self.making), " and ".join(self.others)
        far = f", going on by {shown(model, self.signal, self.unseen)} at most until it sees it," if self.unseen else ""
        return f"what {making} makes of {self.signal}{far} never wakes {others}"


@dataclass(frozen=True)
class CommandCrossing:
    """Why no rest is proved: `making` acts where the command is `at`, moves it by up to `unseen` before it sees that,
    and `waking` acts at `awake`.
    """

    signal: str
    way: str
    making: str
    waking: str
    at: Fraction
    awake: Fraction
    unseen: Fraction

    def render(self, model: Model) -> str:
        """Returns what stands against a proof, in words."""
        at, awake, unseen = (shown(model, self.signal, value) for value in (self.at, self.awake, self.unseen))
        moves = "raises" if self.way == UP else "lowers"
        far = f"by up to {unseen} before it sees that"
        return f"{self.making} {moves} {self.signal} at {at}, {far}, and {self.waking} acts at {awake}"


def command_rests(
    model: Model, loops: Sequence[SampledLoop], deadline: float
) -> tuple[tuple[CommandRest, ...], CommandCrossing | None]:
    """Returns how each command of these loops comes to rest, nothing where that is not shown; and what stands against
    it, where a solver has found it.
    """
    if modes_read(model) & {loop.name for loop in loops}:
        return (), None  # a loop may go on and off for ever and write one value: what moves is what reads that
    rests: list[CommandRest] = []
    try:
        for signal in dict.fromkeys(loop.signal for loop in loops if loop.signal):
            rest = _rest(model, signal, deadline)
            if not isinstance(rest, CommandRest):
                return (), rest
            rests.append(rest)
    except NotExactError:
        return (), None
    return tuple(rests), None


def _rest(model: Model, signal: str, deadline: float) -> CommandRest | CommandCrossing | None:
    writers = writers_of(model, signal)
    if len({loop.lands for loop in writers}) > 1 or not all(map(_is_followed, writers)) or _opens(model, writers):
        return None  # of two that land at other times, what one commands may land after what the other one did
    open_constants = tuple(path for path, c in model.constants.items() if not (c.varies or c.range.exact))
    crossing = None
    for fixed in ((), open_constants) if open_constants else ((),):
        moves, idle = _acting(model, writers, fixed)
        for way in (UP, DOWN):
            answer = None if is_over(deadline) else _way(signal, way, moves, fixed, idle)
            if isinstance(answer, CommandRest):
                return answer
            crossing = answer or crossing
    return crossing


def _acting(
    model: Model, writers: Sequence[SampledLoop], fixed: tuple[str, ...]
) -> tuple[list[CommandMove], tuple[str, ...]]:
    """Returns what the loops may do to their command, and why some of it never comes: no loop acts so a first time."""
    plain = {loop.name: list(moves_of(model, loop, fixed)) for loop in writers}
    moves, idle = list[CommandMove](), list[str]()
    for loop in writers:
        ways = {move.way for name, own in plain.items() if name != loop.name for move in own}
        for move in moves_of(model, loop, fixed, (ways or {UP}).pop() if len(ways) < 2 else None):
            script = None if move.first is None else move.first.script()
            if script is not None and unsat(script, timeout_ms=CHECK_MS).unsat:
                idle.append(script)
            else:
                moves.append(move)
    return moves, tuple(idle)


def _is_followed(loop: SampledLoop) -> bool:
    return loop.law in WRITING and not (loop.rates or loop.hold_down or loop.hold_up)


def _opens(model: Model, writers: Sequence[SampledLoop]) -> bool:
    """Decides whether bounds are open, or what several loops command lands after times of which each is open."""
    stated = [loop.source.actuation.bounds for loop in writers if loop.source.actuation is not None]
    pairs = [bounds for bounds in stated if len(bounds) > 1]
    if any(not (isinstance(end, Quantity) and end.exact) for bounds in pairs for end in bounds):
        return True
    return len(writers) > 1 and any(fact.startswith(("`lands", "`added_delay")) for fact in one_ended(model))


def _way(
    signal: str, way: str, moves: Sequence[CommandMove], fixed: tuple[str, ...], idle: tuple[str, ...]
) -> CommandRest | CommandCrossing | None:
    """Returns that what moves the command one way never wakes what moves it the other way, or where it may."""
    making, others = [m for m in moves if m.way == way], [m for m in moves if m.way != way]
    if len(making) * len(others) > MOST_PAIRS:
        return None
    unseen, levels = _unseen(making), [move.level for move in making if move.level is not None]
    level = (max(levels) if way == UP else min(levels)) if levels else None
    scripts = list(idle)
    for move, other in itertools.product(making, others):
        query = _crossing_query(move, other, unseen, level)
        answer = unsat(script := query.script(), timeout_ms=CHECK_MS)
        if not answer.unsat:
            state = read_model(answer.model) if answer.outcome is Outcome.SAT else {}
            return _crossing(signal, way, (move, other), unseen, state)
        scripts.append(script)
    sizes = " ".join(f"(> {rational(move.size)} 0.0)" for move in moves if move.level is None)
    scripts.append(Certificate(claim=f"(and true {sizes})").script())
    acting, waking = (tuple(dict.fromkeys(move.loop.name for move in side)) for side in (making, others))
    oldest = max((move.oldest for move in making), default=Fraction(0))
    return CommandRest(signal, way, acting, waking, unseen, level, oldest, joined(scripts), fixed)


def _unseen(making: Sequence[CommandMove]) -> Fraction:
    """Returns how far the command may go on after the last value on which any of these moves is made."""
    present = [move.size for move in making if move.is_present]
    late: dict[str, list[CommandMove]] = {}
    for move in making:
        if not move.is_present:
            late.setdefault(move.loop.name, []).append(move)
    several = sum((max(m.size for m in own) * _most(own) for own in late.values()), Fraction(0))
    return max(present, default=Fraction(0)) + several


def _most(moves: Sequence[CommandMove]) -> int:
    """Returns how often a loop may change its command within the age of its oldest look, both ends included."""
    loop, age = moves[0].loop, max(move.oldest for move in moves)
    apart = loop.period * (math.floor((loop.cooldown or Fraction(0)) / loop.period) + 1)
    return math.floor(age / apart) + 1


def _crossing_query(move: CommandMove, other: CommandMove, unseen: Fraction, level: Fraction | None) -> SatQuery:
    """Asks for a value on which one move is made from which the command may come to one on which the other one is."""
    sign, op = ("+", "<=") if move.way == UP else ("-", ">=")

    def reached(name: str, from_: Tree) -> Tree:
        return Compare(op, Name(name), Arithmetic(sign, from_, Number(unseen)))

    near: Tree = Logic("and", tuple(reached(b, Name(a)) for a in move.looks for b in other.looks))
    if level is not None:
        near = Logic("or", (near, Logic("and", tuple(reached(b, Number(level)) for b in other.looks))))
    return SatQuery((move.when, other.when, near), {**move.ranges, **other.ranges}, move.whole | other.whole)


def _crossing(
    signal: str,
    way: str,
    moves: tuple[CommandMove, CommandMove],
    unseen: Fraction,
    state: Mapping[str, Fraction | bool],
) -> CommandCrossing | None:
    lowest, highest = (min, max) if way == UP else (max, min)
    ends = [[Fraction(state[name]) for name in move.looks if name in state] for move in moves]
    if not all(ends):
        return None
    move, other = moves
    return CommandCrossing(signal, way, move.loop.name, other.loop.name, lowest(ends[0]), highest(ends[1]), unseen)
