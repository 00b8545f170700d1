"""The indices of coordination: each a number with its interval and its meaning, or what to measure for it."""

from __future__ import annotations

from coherence.causal.answers.answer import Answer
from coherence.causal.indices import Measured, Refusal, as_dict, entries, lines, measured
from coherence.causal.session.context import Context
from coherence.causal.session.figures import Bar, bars
from coherence.causal.session.request_inputs import HIGH, LOW
from coherence.reporting.pictures.svg import Panel

ORDER = 80
TITLE = "Indices of coordination"
DRAWN = ("CI", "DI", "WPI", "HCL")
FEW = 100  # requests
WIDEST = 10.0  # an interval wider than this would hide the others


def answer(context: Context) -> Answer | None:
    """CI, DI, WPI, HCL, CC and the score of each layer; nothing without a log of requests or a band of a loop."""
    given = context.asked
    if given is None:
        return None
    if given.facts.log is None and not given.facts.tubes:
        return Answer(TITLE, tuple(f"refused: {note}" for note in given.notes), {"refused": list(given.notes)})
    found = [measured(given.facts, [name])[0] for name in entries() if given.facts.log is not None or name == "CC"]
    loops = (
        ()
        if given.facts.tubes or given.facts.log is None
        else tuple(dict.fromkeys(loop.signal for loop in context.model.loops))
    )
    count = len(given.facts.log) if given.facts.log is not None else FEW
    few = (f"only {count} requests: too few to rely on, whatever an interval says",) if count < FEW else ()
    left = given.facts.log.excluded if given.facts.log is not None else ()
    odd = tuple(f"left out: {one.what}: {one.why}; {one.remedy}" for one in left)
    told = (*given.notes, *odd, *few, *lines(found), *(_band(name) for name in loops[:1]))
    data = {
        "indices": [as_dict(one) for one in found], "notes": list(given.notes), "servers": given.facts.servers,
        "left_out": [{"what": one.what, "why": one.why, "remedy": one.remedy} for one in left],
        "requests": count if given.facts.log is not None else 0,
    }  # fmt: skip
    return Answer(TITLE, told, data, panels=_panels(found))


def _band(name: str) -> str:
    return f"the band of {name} is read from the signals {name}{LOW} and {name}{HIGH}"


def _panels(found: list[Measured | Refusal]) -> tuple[Panel, ...]:
    """Those whose intervals fit beside each other."""
    known = [Bar(one.index.name, one.estimate) for one in found if isinstance(one, Measured) and not one.bound]
    drawn = [bar for bar in known if bar.name in DRAWN and bar.amount.high - bar.amount.low <= WIDEST]
    return (bars("Indices with their intervals", "", drawn),) if drawn else ()
