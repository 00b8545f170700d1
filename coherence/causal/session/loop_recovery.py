"""Tells what loops that are off would win back of what the fleet can do, and what types of loss each loop makes.

A loop's share of the lost time is the sum of its shares of the states that make it up, each at its price: Shapley
values are linear in the game, so that a loop's types add up to its amount.  What is booked on a loop is the time of
the states that what it writes acts on directly; more won back than that is amplification: it causes other losses.
SOURCE: definitions.md 1.5, 1.6; Shapley 1953 (additivity).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from coherence.base.number_text import render_number
from coherence.causal.answers.answer import TextTable
from coherence.causal.attribution.loops_off import LoopSplit, loop_split, writers
from coherence.causal.attribution.mechanisms import constants_of
from coherence.causal.ledger.of_design import LOST, TEXT
from coherence.causal.ledger.recovery import RecoveryLosses, recovery
from coherence.causal.ledger.report import recovery_json
from coherence.causal.ledger.states import USEFUL, columns, losses
from coherence.causal.session.context import Context

OTHER = "B"  # misplacement: useful work on a device that is worth more elsewhere
TOLD = 1e-9  # of the loss: a smaller amount of a type is not shown


@dataclass(frozen=True)
class LoopRecovery:
    """What loops off would win back; loop -> letter of a type -> amount, in the unit of the loss."""

    gains: RecoveryLosses
    types: Mapping[str, Mapping[str, float]]


def loop_recovery(context: Context, split: LoopSplit) -> LoopRecovery | None:
    """Returns both for a split of the lost time of a ledger; None for another loss, or where no loop can be told."""
    tellable = [share.loop for share in split.shares if not share.refused]
    booked, loss = context.booked, context.loss
    if booked is None or booked.ledger is None or loss is None or loss.name not in (LOST, TEXT) or not tellable:
        return None
    assert loss.equation is not None  # lost time is an exact sum over states
    states = dict(zip((name for name, _ in loss.equation.columns), loss.equation.exact, strict=True))
    least, measured, nominal = booked.ledger.effective, split.measured.value, booked.ledger.nominal
    gains = recovery(
        tellable, lambda gone: least + measured - split.by_off[gone],
        nominal=nominal, ledger=dict(_booked(context, tellable, states)),
    )  # fmt: skip
    return LoopRecovery(gains, _types(context, tellable, states))


def _booked(context: Context, loops: Iterable[str], states: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yields each loop with the lost time of the states that what it writes acts on directly."""
    acting = writers(context.fitted)
    for loop in loops:
        written = set(acting[loop])
        direct = [name for name in states if written & set(context.fitted.graph.causes(name)) or name in written]
        yield loop, sum(states[name] * float(np.nanmean(context.series[name])) for name in direct)


def _types(context: Context, loops: list[str], states: Mapping[str, float]) -> dict[str, dict[str, float]]:
    letters = {column.name: column.letter for column in columns()}
    amounts: dict[str, dict[str, float]] = {loop: {} for loop in loops}
    for name, price in states.items():
        state = name.split(".")[1]
        letter = OTHER if state == USEFUL else letters[state]
        if name not in context.fitted.nodes:
            continue
        split = loop_split(
            context.series, context.fitted, name, loops,
            constants=constants_of(context.model), reference=context.settings.reference,
        )  # fmt: skip
        for share in split.shares:
            mine = amounts[share.loop]
            mine[letter] = mine.get(letter, 0.0) + (0.0 if share.refused else price * share.amount.value)
    return amounts


def recovery_tables(answer: LoopRecovery, measured: float) -> tuple[TextTable | str, ...]:
    """Returns types by loop, then what each loop off would win back, and what refutes either."""
    order = [loss.letter for loss in losses()]
    shown = [
        letter for letter in order
        if any(abs(one.get(letter, 0.0)) > TOLD * abs(measured) for one in answer.types.values())
    ]  # fmt: skip
    types = [(loop, *(render_number(mine.get(letter, 0.0)) for letter in shown)) for loop, mine in answer.types.items()]
    by_type = TextTable(("amount by type", *shown), tuple(types))
    rows = [
        (gain.off[0], render_number(gain.reached.value), f"{100 * gain.reached.value / answer.gains.nominal:.1f} %",
         render_number(gain.recovered.value), _amplified(gain.amplification.value))
        for gain in answer.gains.gains if len(gain.off) == 1
    ]  # fmt: skip
    header = ("loop off", "C would be", "of C_nom", "won back", "per unit booked on it")
    return (*([by_type] if shown else []), TextTable(header, tuple(rows)), *answer.gains.violations)


def _amplified(ratio: float) -> str:
    return render_number(ratio, 3) if np.isfinite(ratio) else "nothing booked"


def recovery_to_dict(answer: LoopRecovery) -> dict[str, Any]:
    """Returns both as JSON-able data."""
    return {"types": {loop: dict(mine) for loop, mine in answer.types.items()}, **recovery_json(answer.gains)}
