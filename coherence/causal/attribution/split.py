"""Splits the mean of a loss over its causes, non-linear mechanisms and interactions included.

Players are the signals behind the loss.  The value of a coalition is the mean loss when its members have their
measured own part, sample by sample, and the others a reference (0, or a level).  What the loss has of its own, which
nothing explains, is a player as well.  Where everything is linear the closed form of `effects` is the Shapley value
and is used.  A player that no non-linear mechanism lies behind has the same contribution in every coalition, so only
those that meet in a mechanism are played out, all 2^n coalitions of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.answers.intervals import Estimate, estimate
from coherence.causal.attribution.mechanisms import Mechanism, Range
from coherence.causal.attribution.shapley import TOLD, NotSplitError, dividends, members, refuse_many, shapley
from coherence.causal.attribution.structure import CausalSystem, run, structure
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.effects import (
    Attribution,
    CauseShare,
    Knot,
    against,
    attribute,
    knots,
    matrix,
    own,
    total,
)
from coherence.causal.fitting.fit import Fitted

NUMBERS_AT_ONCE = 4_000_000  # of one signal, over replicates, coalitions and times


@dataclass(frozen=True)
class Interaction:
    """What several players cause together and no smaller group of them causes; part of each one's share."""

    players: tuple[str, ...]
    amount: Estimate


@dataclass(frozen=True)
class Split:
    """An attribution with its interactions; `mechanisms`: the declared non-linear ones that it kept."""

    attribution: Attribution
    interactions: tuple[Interaction, ...] = ()
    mechanisms: Mapping[str, Mechanism] = field(default_factory=dict)
    method: str = "closed form"


def split(
    series: Series, fitted: Fitted, loss: str, *, constants: Mapping[str, float | Range] | None = None,
    reference: Mapping[str, float] | None = None, groups: Mapping[str, Sequence[str]] | None = None, unit: str = "1",
) -> Split:  # fmt: skip
    """Split the mean of a signal over what drove it.  `reference`: own part of a signal when it is out (default 0).

    `groups`: name -> signals that play as one.  Raises UsageError where more than 12 players meet in mechanisms.
    """
    if loss not in series:
        raise UsageError(f"'{loss}' is not among the signals: {did_you_mean(loss, series.names)}")
    strange = [name for name in reference or {} if name not in series]
    if strange:
        raise UsageError(f"no signal '{strange[0]}' to have a reference: {did_you_mean(strange[0], series.names)}")
    system = structure(series, fitted, loss, constants=constants)
    mechanisms = {name: part for name, part in system.parts.items() if isinstance(part, Mechanism)}
    if not mechanisms:
        return Split(_linear(fitted, loss, groups or {}, reference or {}, unit))
    teams, knots = _teams(fitted, system, loss, groups or {}, reference or {})
    played = _play(system, loss, teams, reference or {})
    attribution = _attribution_of(loss, teams, knots, played, unit, reference or {})
    return Split(attribution, tuple(_interactions(loss, teams, played)), mechanisms, "exact Shapley values")


@dataclass(frozen=True)
class _Played:
    """Values of the game.  Replicates come first: the whole, then without each batch."""

    nobody: Floats  # (replicates,)
    alone: Floats  # (replicates, additive players): what each adds to any coalition
    values: Floats  # (replicates, 2^n) of the players that meet
    additive: tuple[int, ...]
    meeting: tuple[int, ...]
    measured: float


def _teams(
    fitted: Fitted, system: CausalSystem, loss: str, groups: Mapping[str, Sequence[str]], reference: Mapping[str, float]
) -> tuple[dict[str, tuple[str, ...]], dict[str, Knot]]:
    """player -> its signals.  Signals that cannot be told apart play together; the loss is last."""
    behind = [name for group in system.order for name in group]
    teams: dict[str, tuple[str, ...]] = {}
    knot_of: dict[str, Knot] = {}
    taken: set[str] = set()
    for knot in knots(fitted, loss, reference):
        linear = [name for name in knot.members if name in behind]
        if len(linear) > 1:
            teams[" + ".join(linear)] = tuple(linear)
            knot_of[" + ".join(linear)] = knot
            taken |= set(linear)
    for player, names in groups.items():
        strange = [name for name in names if name not in system.series]
        if strange:
            raise UsageError(f"group '{player}' holds '{strange[0]}': {did_you_mean(strange[0], system.series.names)}")
        chosen = tuple(name for name in names if name in behind and name not in taken)
        if chosen:
            teams[player] = chosen
            taken |= set(chosen)
    teams |= {name: (name,) for name in behind if name not in taken and name != loss}
    if loss not in taken:
        teams[loss] = (loss,)
    return teams, knot_of


def _play(
    system: CausalSystem, loss: str, teams: Mapping[str, tuple[str, ...]], reference: Mapping[str, float]
) -> _Played:
    names = tuple(teams)
    lead = _meeting_signals(system)
    meeting = tuple(n for n, player in enumerate(names) if any(name in lead for name in teams[player]))
    additive = tuple(n for n in range(len(names)) if n not in meeting)
    refuse_many([names[n] for n in meeting], "causes that meet in non-linear mechanisms")
    games = [frozenset({number}) for number in additive]
    coalitions = [frozenset(meeting[m] for m in members(c, len(meeting))) for c in range(1 << len(meeting))]
    everybody = frozenset(range(len(names)))
    worths = _values(system, loss, teams, reference, [everybody, *coalitions, *games])
    values = worths[:, 1 : 1 + len(coalitions)]
    nobody = values[:, 0]
    alone = worths[:, 1 + len(coalitions) :] - nobody[:, None]
    return _Played(nobody, alone, values, additive, meeting, float(worths[0, 0]))


def _meeting_signals(system: CausalSystem) -> frozenset[str]:
    """Signals that reach the loss through a non-linear mechanism, circles included."""
    signals: set[str] = set()
    waiting = [cause for part in system.parts.values() if isinstance(part, Mechanism) for cause in part.causes]
    while waiting:
        name = waiting.pop()
        if name not in signals:
            signals.add(name)
            waiting += system.parts[name].causes if name in system.parts else ()
    return frozenset(signals)


def _values(
    system: CausalSystem, loss: str, teams: Mapping[str, tuple[str, ...]], reference: Mapping[str, float],
    coalitions: Sequence[frozenset[int]],
) -> Floats:  # fmt: skip
    """(replicates, coalitions): mean loss of each, over the samples where everything was there."""
    sizes = max(1, NUMBERS_AT_ONCE // max(len(system.series) * system.replicates, 1))
    edges = [*range(0, len(coalitions), sizes), len(coalitions)]
    there = _there(system, loss)
    parts = [_means(system, loss, teams, reference, coalitions[low:high], there) for low, high in pairwise(edges)]
    values = np.concatenate(parts, axis=1)
    if not np.isfinite(values).all():
        raise NotSplitError(
            f"'{loss}' has no value where some causes are at their reference (a division by zero?): "
            "give those causes a reference level of their own"
        )
    return values


def _there(system: CausalSystem, loss: str) -> Floats:
    """Which samples count: those at which everything behind the loss is known."""
    drives = {name: rows[:1, None, :] for name, rows in system.own.items()}
    known = np.isfinite(run(system, drives, rows=slice(0, 1))[loss][0, 0])
    if not known.any():
        raise UsageError(f"'{loss}' and its causes are never there at the same time: nothing can be attributed")
    return np.asarray(known)


def _means(
    system: CausalSystem, loss: str, teams: Mapping[str, tuple[str, ...]], reference: Mapping[str, float],
    coalitions: Sequence[frozenset[int]], there: Floats,
) -> Floats:  # fmt: skip
    drives: dict[str, Floats] = {}
    for number, names in enumerate(teams.values()):
        plays = np.array([number in coalition for coalition in coalitions])[None, :, None]
        for name in names:
            drives[name] = np.where(plays, system.own[name][:, None, :], reference.get(name, 0.0))
    losses = run(system, drives)[loss]
    with np.errstate(invalid="ignore"):
        means = np.broadcast_to(losses, (losses.shape[0], len(coalitions), len(there)))[..., there].mean(axis=-1)
    return np.asarray(np.broadcast_to(means, (system.replicates, len(coalitions))), np.float64)


def _parts(played: _Played, count: int) -> Floats:
    """(replicates, players): what each is worth."""
    parts = np.zeros((len(played.nobody), count))
    parts[:, list(played.additive)] = played.alone
    parts[:, list(played.meeting)] = shapley(played.values)
    return parts


def _attribution_of(
    loss: str, teams: Mapping[str, tuple[str, ...]], knots: Mapping[str, Knot], played: _Played, unit: str,
    reference: Mapping[str, float],
) -> Attribution:  # fmt: skip
    parts = _parts(played, len(teams))
    measured = played.measured - played.nobody
    shares = []
    for number, (player, names) in enumerate(teams.items()):
        if player == loss:
            continue
        knot = knots.get(player)
        amount = estimate(float(parts[0, number]), parts[1:, number])
        if amount.value or amount.error or knot:
            shares.append(CauseShare(player, amount, names, knot.why if knot else "", knot.measure if knot else ()))
    rest = parts[:, list(teams).index(loss)] if loss in teams else np.zeros(len(parts))
    exact = float(measured[0] - sum(share.amount.value for share in shares))
    return Attribution(
        loss, estimate(float(measured[0]), measured[1:]), tuple(shares), estimate(exact, rest[1:]), unit,
        against(reference),
    )  # fmt: skip


def _interactions(loss: str, teams: Mapping[str, tuple[str, ...]], played: _Played) -> Iterator[Interaction]:
    """Dividends of two players or more above 5 % of the loss, largest first."""
    shared = dividends(played.values)
    size = abs(played.measured - float(played.nobody[0]))
    names = ["unexplained" if name == loss else name for name in teams]
    order = sorted(range(shared.shape[1]), key=lambda c: -abs(float(shared[0, c])))
    for coalition in order:
        if coalition.bit_count() > 1 and abs(float(shared[0, coalition])) > TOLD * size:
            met = tuple(names[played.meeting[m]] for m in members(coalition, len(played.meeting)))
            yield Interaction(met, estimate(float(shared[0, coalition]), shared[1:, coalition]))


def _linear(
    fitted: Fitted, loss: str, groups: Mapping[str, Sequence[str]], reference: Mapping[str, float], unit: str
) -> Attribution:
    """The closed form; the shares of grouped signals are added, replicate by replicate."""
    attribution = attribute(fitted, loss, reference=reference, unit=unit)
    shares, teams = list(attribution.shares), []
    m = matrix(fitted)
    levels = np.array([reference.get(name, 0.0) for name in fitted.signals])
    parts = total(m)[:, fitted.signals.index(loss), :] * (own(fitted, m)[1] - levels)
    for player, names in groups.items():
        chosen = [share for share in shares if share.members and set(share.members) <= set(names) and not share.refused]
        at = [fitted.signals.index(name) for one in chosen for name in one.members]
        if at:
            amounts = parts[:, at].sum(axis=1)
            members_of = tuple(fitted.signals[number] for number in at)
            teams.append(CauseShare(player, estimate(float(amounts[0]), amounts[1:]), members_of))
            shares = [share for share in shares if share not in chosen]
    return replace(attribution, shares=(*teams, *shares))
