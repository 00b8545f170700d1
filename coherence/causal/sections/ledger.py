"""Tells where device time went: nominal and effective capacity, the loss by type and state, its price beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from coherence.base.errors import InputError
from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable, render_interval
from coherence.causal.answers.intervals import Estimate
from coherence.causal.answers.one_screen import first_lines
from coherence.causal.ledger.loss_ledger import DENOMINATORS, LedgerLine, LedgerShare, LossLedger
from coherence.causal.ledger.of_design import Booked, render_problems
from coherence.causal.ledger.pricing import Bill, Ghost, bill, ghosts, prices_of
from coherence.causal.ledger.report import bill_to_dict, ledger_to_dict
from coherence.causal.ledger.report import waterfall as steps
from coherence.causal.ledger.states import SLACK, UNLABELLED, losses
from coherence.causal.ledger.token_counts import token_counts
from coherence.causal.session.context import Context
from coherence.causal.session.figures import AmountBar, waterfall
from coherence.reporting.pictures.figure import Panel

ORDER = 70
TITLE = "Where device time went"
HOUR = 3600.0
IDLE = "idle for want of demand"
MODES = {
    "cost": "devices idle for want of demand: time won back saves devices, and adds no work",
    "throughput": "no device idles for want of demand: time won back becomes work",
}


def answer(context: Context) -> Section | None:
    """The ledger; nothing where neither a log nor a signal says what devices do."""
    booked = context.booked
    if booked is None:
        return None
    given = booked.ledger
    if given is None:
        return Section(TITLE, tuple(f"refused: {why}" for why in booked.refused), {"refused": list(booked.refused)})
    if given.violations:
        data = {"refused": list(given.violations), "C_nom": given.nominal, "C_eff": given.effective}
        return Section(
            TITLE, ("refused: the numbers contradict each other, so no share is told", *given.violations), data
        )
    paid, lines, priced = _priced(context, given)
    every: tuple[str | TextTable, ...] = (
        _heads(given, booked.unit),
        *_notes(booked, given),
        _shares(given),
        *paid,
        *lines,
    )
    return Section(
        TITLE,
        every,
        {**ledger_to_dict(given), "unit_of_work": booked.unit, **priced},
        panels=(_panel(given, booked.unit),),
        headline=_headline(given, booked.unit),
        brief=(_heads(given, booked.unit), *_notes(booked, given), _shares(given, states=False), *first_lines(lines)),
    )


def _headline(given: LossLedger, unit: str) -> str:
    """Returns the ledger as a sentence."""
    return (
        f"The fleet did {_figure(given.effective)} of {_figure(given.nominal)} {unit}/s; "
        f"{_percent(given.structural.value)} of what was demanded was lost."
    )


def _heads(given: LossLedger, unit: str) -> TextTable:
    nominal, gap, window = given.nominal, given.gap.estimate, given.times.window
    lost = Estimate(given.loss_text, nominal * gap.low, nominal * gap.high, nominal * gap.error)
    done = Estimate(given.effective, nominal - lost.high, nominal - lost.low, lost.error)
    slack = given[SLACK].amount / window
    rows = [
        ("C_nom, what the fleet can do alone on its work", _figure(nominal), ""),
        ("C_eff, what was done in time and used", _figure(given.effective), render_interval(done)),
        ("C_nom - C_eff", _figure(given.loss_text), render_interval(lost)),
        ("  of it idle for want of demand", _figure(slack), ""),
        *(
            (f"  of it {line.words}", _figure(line.amount / window), "")
            for line in (given[loss.letter] for loss in losses() if not loss.structural)
            if not _nothing(line)
        ),
        ("  of it lost, L_struct", _figure(given.loss_structural), ""),
        ("U_struct, lost of what was demanded", _percent(given.structural.value), _reach(given.structural)),
        ("U_gap, C_nom - C_eff of C_nom", _percent(given.gap.value), _reach(given.gap)),
    ]
    return TextTable(
        (f"{render_number(window / HOUR)} h of {_fleet(given)}", f"{unit}/s", "95 % interval"), tuple(rows)
    )


def _fleet(given: LossLedger) -> str:
    fleet = given.capacity.fleet
    return " and ".join(f"{count:g} {device}" for device, count in zip(fleet.devices, fleet.count, strict=True))


def _figure(amount: float) -> str:
    return render_number(amount + 0.0)


def _percent(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:.1f} %" if np.isfinite(share) else ""


def _reach(share: LedgerShare) -> str:
    one = share.estimate
    if not (np.isfinite(one.low) and np.isfinite(one.high)):
        return "not known"
    return "" if one.low == one.high else f"{100 * one.low:.1f} .. {100 * one.high:.1f} %"


def _notes(booked: Booked, given: LossLedger) -> Iterator[str]:
    yield from _demand(booked, given)
    read = booked.series.excluded if booked.series is not None else ()
    yield from (f"taken as stated: {one}" for one in booked.stated.assumed)
    yield from (f"left out: {one.what}: {one.why}" for one in given.times.excluded if one not in read)
    if not given.capacity.unique:
        low, high = given.structural.low, given.structural.high
        span = f"{100 * low:.1f} to {100 * high:.1f} %"
        yield f"devices may be priced in more than one way: U_struct is {span} over all of them"


def _demand(booked: Booked, given: LossLedger) -> Iterator[str]:
    """What time won back would become; where nothing tells idle time, what U_struct would be if the rest were idle."""
    rest = given[UNLABELLED]
    if not rest.seconds:
        yield MODES[given.mode]
        return
    share = rest.seconds / (given.times.window * float(given.capacity.fleet.count.sum()))
    where = "no state signal" if booked.series is not None else "no state in the log"
    yield f"{_percent(share)} of device time has {where}: it counts as {UNLABELLED}"
    lost, demanded = given.totals["structural"], given.totals["demanded"]
    most = f"if all of that were lost, U_struct would be {_percent((lost + rest.amount) / demanded)}"
    logged = booked.series is not None and any(f"{d}.{SLACK}" in booked.series for d in given.capacity.fleet.devices)
    if logged or given[SLACK].seconds:
        yield most
        yield MODES[given.mode]
    elif demanded > rest.amount:
        yield f"{most}; if it were idle for want of demand, {_percent(lost / (demanded - rest.amount))}: log {SLACK}"


def _shares(given: LossLedger, *, states: bool = True) -> TextTable:
    """Types and their states; the four shares are of different wholes, and only each column adds up."""
    rows = []
    for line in given.types:
        if not _nothing(line):
            rows.append(_row(f"{line.letter}  {line.words}", line))
            rows += [
                _row(f"   {state.name}", state)
                for state in given.states
                if states and state.letter == line.letter and not _nothing(state)
            ]
    slack = given[SLACK]
    rows += [] if _nothing(slack) else [(IDLE, _hours(slack), *_of(slack), "")]
    header = ("type and state", "device-h", *(f"of {name}" for name in DENOMINATORS), "95 % of demanded")
    return TextTable(header, tuple(rows))


def _nothing(line: LedgerLine) -> bool:
    return not line.amount and not line.seconds


def _row(name: str, line: LedgerLine) -> tuple[str, ...]:
    return name, _hours(line), *_of(line), _reach(line.shares["demanded"])


def _of(line: LedgerLine) -> tuple[str, ...]:
    """Idle time for want of demand is a part of what is provisioned alone."""
    return tuple(
        _percent(line.shares[of].value) if line.name != SLACK or of == DENOMINATORS[0] else "" for of in DENOMINATORS
    )


def _hours(line: LedgerLine) -> str:
    return render_number(line.seconds / HOUR) if line.seconds is not None else ""


def _panel(given: LossLedger, unit: str) -> Panel:
    bars = []
    for step in steps(given):
        whole, size = not step.letter and step.start == 0.0, step.end - step.start
        name = f"{step.letter} {step.name}" if step.letter else step.name if whole else IDLE
        bars.append(AmountBar(name, Estimate(size, size, size, 0.0), whole))
    return waterfall("From C_nom to C_eff", f"{unit}/s", bars)


# -- money ----------------------------------------------------------------------------------------


def _priced(context: Context, given: LossLedger) -> tuple[tuple[TextTable, ...], tuple[str, ...], dict[str, Any]]:
    """The same time in money, where the design has prices of its devices."""
    fleet = given.capacity.fleet
    if not any(device in context.design.prices for device in fleet.devices):
        return (), (), {}
    try:
        priced = bill(given.times, prices_of(context.design, fleet))
    except InputError as error:
        return (), tuple(f"no money is told: {why}" for why in render_problems(error)), {}
    window = context.settings.window
    tokens = token_counts(context.design, context.whole.between(*window) if window else context.whole)
    hidden = ghosts(
        priced, tokens_generated=tokens.generated, tokens_delivered=tokens.delivered, price_of_token=tokens.price
    )
    return (_money(priced),), tuple(_ghosts(hidden, priced)), {"money": bill_to_dict(priced, hidden)}


def _money(priced: Bill) -> TextTable:
    rows = [
        (
            charge.name,
            _figure(charge.cost),
            _percent(charge.of_cost),
            _percent(charge.of_time),
            render_number(charge.amplification, 3),
        )
        for charge in priced.charges
        if charge.cost or charge.of_time
    ]
    whole = ("all", _figure(priced.cost), _percent(1.0), _percent(1.0), "")
    head = ("money beside, never added", priced.currency, "of the cost", "of the time", "cost per time")
    return TextTable(head, (*rows, whole))


def _ghosts(unpriced: tuple[Ghost, ...], priced: Bill) -> Iterator[str]:
    for ghost in unpriced:
        if ghost.cost is None:
            yield f"{ghost.name}: not known; measure {ghost.missing}"
        else:
            yield f"{ghost.name}: {_figure(ghost.cost)} {priced.currency} ({ghost.words})"
