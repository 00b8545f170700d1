"""Renders a ledger as rows of a table, as the steps of a waterfall from C_nom to C_eff, and as a dictionary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from coherence.causal.ledger.auditability import Audit
from coherence.causal.ledger.loss_ledger import DENOMINATORS, LedgerLine, LedgerShare, LossLedger
from coherence.causal.ledger.pricing import Bill, Ghost
from coherence.causal.ledger.recovery import RecoveryLosses
from coherence.causal.ledger.states import SLACK


@dataclass(frozen=True)
class WaterfallBar:
    """A step of the waterfall, in work units per second: from `start` to `end`."""

    name: str
    letter: str
    start: float
    end: float
    low: float  # interval of what is lost
    high: float


def waterfall(given: LossLedger) -> tuple[WaterfallBar, ...]:
    """C_nom, each type that lost something, idle for want of demand, C_eff: bars that end where the next begins."""
    nominal = given.nominal
    bars, at = [WaterfallBar("C_nom", "", 0.0, nominal, nominal, nominal)], nominal
    for line in (*given.types, given[SLACK]):
        lost = line.amount / given.times.window
        if lost:
            share = line.shares["provisioned"].estimate
            bars.append(WaterfallBar(line.words, line.letter, at, at - lost, share.low * nominal, share.high * nominal))
            at -= lost
    return (*bars, WaterfallBar("C_eff", "", 0.0, given.effective, given.effective, given.effective))


def ledger_to_dict(given: LossLedger) -> dict[str, Any]:
    """Everything a reader of the ledger may need; numbers that are not finite become null."""
    fleet, capacity = given.capacity.fleet, given.capacity
    return _plain(
        {
            "C_nom": given.nominal,
            "C_eff": given.effective,
            "L_text": given.loss_text,
            "L_struct": given.loss_structural,
            "U_gap": _share_json(given.gap),
            "U_struct": _share_json(given.structural),
            "mode": given.mode,
            "window": given.times.window,
            "unit": {"capacity": "work units per second", "amount": "work units", "seconds": "device-seconds"},
            "devices": {
                d: {"count": n, "worth": y} for d, n, y in zip(fleet.devices, fleet.count, capacity.y, strict=True)
            },
            "classes": {
                k: {"mix": m, "worth": z} for k, m, z in zip(fleet.classes, fleet.mix, capacity.z, strict=True)
            },
            "prices_unique": capacity.unique,
            "denominators": {name: given.totals[name] for name in DENOMINATORS},
            "types": {line.name: _line_json(line) for line in given.types},
            "states": {line.name: _line_json(line) for line in given.states},
            "waterfall": [{"name": b.name, "type": b.letter, "from": b.start, "to": b.end} for b in waterfall(given)],
            "violations": list(given.violations),
            "excluded": [{"what": e.what, "why": e.why, "remedy": e.remedy} for e in given.times.excluded],
        }
    )


def _share_json(share: LedgerShare) -> dict[str, Any]:
    one = share.estimate
    return {"value": one.value, "interval": [one.low, one.high], "over_prices": [share.low, share.high]}


def _line_json(line: LedgerLine) -> dict[str, Any]:
    shares = {of: _share_json(share) for of, share in line.shares.items()}
    return {
        "type": line.letter, "words": line.words, "seconds": line.seconds, "amount": line.amount, "share_of": shares
    }  # fmt: skip


def _plain(found: dict[str, Any]) -> dict[str, Any]:
    """The same of plain types, NaN and infinities as None."""
    return {str(key): _bare(one) for key, one in found.items()}


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return _plain(value)
    if isinstance(value, list | tuple):
        return [_bare(one) for one in value]
    if isinstance(value, bool) or value is None or isinstance(value, str | int):
        return value
    number = float(value)
    return number if math.isfinite(number) else None


def recovery_json(given: RecoveryLosses) -> dict[str, Any]:
    """Gains by set of sources, Shapley values, the overlap."""

    def interval(one: Any) -> dict[str, Any]:
        return {"value": one.value, "interval": [one.low, one.high]}

    gains = [
        {
            "off": list(gain.off),
            "reached": interval(gain.reached),
            "recovered": interval(gain.recovered),
            "share": gain.share,
            "ratio": gain.ratio,
            "amplification": interval(gain.amplification),
        }
        for gain in given.gains
    ]
    shapley = {name: interval(one) for name, one in given.shapley.items()}
    head = {"C_nom": given.nominal, "C_eff": interval(given.effective), "overlap": interval(given.overlap)}
    return _plain({**head, "gains": gains, "shapley": shapley, "violations": list(given.violations)})


def bill_to_dict(given: Bill, ghosts: tuple[Ghost, ...] = ()) -> dict[str, Any]:
    """Money by state, beside the loss and never added to it."""
    charges = {
        charge.name: {
            "type": charge.letter,
            "cost": charge.cost,
            "of_cost": charge.of_cost,
            "of_time": charge.of_time,
            "amplification": charge.amplification,
        }
        for charge in given.charges
        if charge.cost or charge.of_time
    }
    unpriced = [{"name": g.name, "cost": g.cost, "words": g.words, "missing": g.missing} for g in ghosts]
    head = {"cost": given.cost, "currency": given.currency, "window": given.window}
    return _plain({**head, "charges": charges, "ghosts": unpriced})


def audit_to_dict(given: Audit) -> dict[str, Any]:
    """Parts with their intervals, and what else to log."""
    parts = {p.name: {"identified": p.identified, "interval": [p.low, p.high], "gap": p.width} for p in given.parts}
    found = {"parts": parts, "gap": given.gap, "further": list(given.further), "order": list(given.order)}
    return _plain({**found, "never": list(given.never), "contradiction": list(given.contradiction)})
