"""Two proportional writers of one field: the same map, apart, or pulling apart at some signal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.base import units
from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, arithmetic, rational
from coherence.language.expressions.tree import Tree
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.model import Interval
from coherence.verify.actions.fixed_points import Scaler, fighting_load, fighting_signal, same
from coherence.verify.facts.writers import Writer
from coherence.verify.patterns.writers import _stated_signals
from coherence.verify.patterns.writers._pair import Numbers, WriterPair, every, quantities

FREE = "the signal may take any value (what the load makes of it is not restricted)"
SHARED = "the signal is a load that the members share evenly"
HPAS = ("kubernetes_hpa", "keda_scaledobject")  # each is an HPA, or makes one
SWITCHED_OFF = "Kubernetes 1.27 or later (before, the two pull at the field)"


def scalers(pair: WriterPair) -> Finding:
    """Returns the answer for two proportional writers."""
    if _ambiguous(pair):
        return _switched_off(pair)
    if (separate := apart(pair)) is not None:
        return separate
    first, second = scaler_of(pair, pair.first), scaler_of(pair, pair.second)
    if isinstance(first, str) or isinstance(second, str):
        return pair.undecided(f"needs {first if isinstance(first, str) else second}")
    if same(first, second):
        return _same(pair, first, second)
    if (case := _stated_signals.stated(pair, first, second)) is not None:
        return _stated_signals.answer(case)
    if first.signal != second.signal:
        return _two_signals(pair, first, second)
    if (y := fighting_signal(first, second)) is not None:
        return _fight(pair, first, second, y, FREE)
    if (load := fighting_load(first, second)) is not None:
        return _fight(pair, first, second, load, SHARED)
    both = f"{pair.first.name} and {pair.second.name}"
    return pair.undecided(f"whether {both} rest together at every load: state one setpoint for both")


def _ambiguous(pair: WriterPair) -> bool:
    """Decides whether the two are HPAs of one target, and not two metrics of one HPA."""
    parts = [writer.loop.part.text for writer in (pair.first, pair.second) if writer.loop.part is not None]
    if len(parts) < 2 or not set(parts) <= set(HPAS):
        return False
    signals = [w.loop.target.signal.text for w in (pair.first, pair.second) if w.loop.target and w.loop.target.signal]
    imported = pair.subject.design.imported  # an importer makes one loop of all metrics of an HPA
    return imported or not _may_be_one(pair) or len(set(signals)) < 2


def _switched_off(pair: WriterPair) -> Finding:
    """Answers that Kubernetes refuses to scale a target that two HPAs select (kubernetes/kubernetes#112011)."""
    first, second = pair.names
    message = (
        f"{first} and {second} are two autoscalers of one target: Kubernetes switches both off (AmbiguousSelector), "
        f"and nothing moves {pair.signal}"
    )
    witness = [
        Step(Fraction(0), f"{first} looks for autoscalers of the same pods and finds {second}"),
        Step(None, f"{first} reports ScalingActive false, AmbiguousSelector, and writes nothing; so does {second}"),
    ]
    evidence = arithmetic({"autoscalers of one target": (2, "")}, witness=witness)
    alone = [repairs.proposal(repairs.without(pair.subject, w.loop.place)) for w in (pair.second, pair.first)]
    return pair.conflict(message, evidence, assumptions=(SWITCHED_OFF,), proposals=alone)


def only_scaler(question: Question, signal: str, writers: Sequence[Writer]) -> Iterator[Finding]:
    """Yields the proof that one HPA alone is there for a target, which Kubernetes then does not switch off."""
    own = [w for w in writers if w.loop.part is not None and w.loop.part.text in HPAS]
    if len(own) == 1:
        script = Certificate(claim=f"(< {len(own)} 2)").script()
        message = f"{own[0].name} is the only autoscaler of its target, {signal}"
        evidence = arithmetic({"autoscalers of one target": (len(own), "")}, certificate=script)
        yield question.absent(message, (own[0].place,), (own[0].name,), evidence)


def apart(pair: WriterPair) -> Finding | None:
    """Returns a certain conflict where what the two may write does not meet at all."""
    first, second = pair.values(pair.first), pair.values(pair.second)
    below, above = (pair.first, pair.second) if _below(first, second) else (pair.second, pair.first)
    low, high = pair.values(below).high, pair.values(above).low
    if low is None or high is None or low >= high:
        return None
    message = (
        f"{below.name} {_wants(pair, below, low, 'less')}, {above.name} {_wants(pair, above, high, 'more')}: "
        "they undo each other for ever"
    )
    conditional = [writer for writer in (below, above) if writer.condition is not None]
    numbers: Numbers = {f"{below.name} at most": (low, pair.unit), f"{above.name} at least": (high, pair.unit)}
    witness = [
        Step(Fraction(0), f"{above.name} writes {pair.shown(high)}"),
        Step(below.period, f"{below.name} writes {pair.shown(low)}"),
        Step(None, f"{above.name} writes {pair.shown(high)} again ({every(above)})"),
    ]
    return pair.conflict(
        message, arithmetic(numbers, witness=witness), certain=not conditional, proposals=_meet(pair, below, above),
        assumptions=[f"the condition of {w.name} can hold while {pair.rival(w).name} acts" for w in conditional],
    )  # fmt: skip


def _wants(pair: WriterPair, writer: Writer, value: Fraction, side: str) -> str:
    if writer.kind == "set":
        return f"sets {pair.signal} to {pair.shown(value)}"
    return f"keeps {pair.signal} at {pair.shown(value)} or {side}"


def _below(one: Interval, other: Interval) -> bool:
    return one.high is not None and other.low is not None and one.high < other.low


def _meet(pair: WriterPair, below: Writer, above: Writer) -> Iterator[Repair | None]:
    """Gives both the same bounds, or leave the field to one of them."""
    for keeps, changed in ((above, below), (below, above)):
        if changed.kind == "set":
            yield pair.unset(changed)
        elif keeps.kind == "scale":
            yield same_bounds(pair, keeps, changed)


def same_bounds(pair: WriterPair, keeps: Writer, changed: Writer) -> Repair | None:
    """Returns the bounds of one loop written into the other."""
    old, new = quantities(changed), quantities(keeps)
    if len(old) != 2 or len(new) != 2:
        return None
    differing = [(before, after) for before, after in zip(old, new, strict=True) if before.low != after.low]
    return repairs.proposal(*(repairs.change(pair.subject, before, after.low) for before, after in differing))


def scaler_of(pair: WriterPair, writer: Writer) -> Scaler | str:
    """Returns the proportional law, or what it lacks."""
    target, values = writer.loop.target, pair.values(writer)
    if values.low is None or values.high is None:
        return f"bounds of {writer.name}"
    if values.low == values.high:
        return Scaler(_signal(pair, writer), Fraction(1), Fraction(0), values.low, values.high, writer.integer)
    if target is None or target.signal is None or target.setpoint is None:
        return f"target signal and setpoint of {writer.name}"
    setpoint = _setpoint(pair, target.setpoint)
    if setpoint is None or setpoint <= 0:
        return f"one positive setpoint of {writer.name}"
    tolerance = target.tolerance.low if target.tolerance else Fraction(0)
    return Scaler(pair.facts.tree(target.signal.tree), setpoint, tolerance, values.low, values.high, writer.integer)


def _signal(pair: WriterPair, writer: Writer) -> Tree:
    from coherence.language.expressions.tree import Number

    target = writer.loop.target
    return pair.facts.tree(target.signal.tree) if target and target.signal else Number(Fraction(0))


def _setpoint(pair: WriterPair, value: Quantity | Formula) -> Fraction | None:
    if isinstance(value, Quantity):
        return value.low if value.exact else None
    found = pair.facts.range(value.tree)
    return found.low if found.exact else None


def _same(pair: WriterPair, first: Scaler, second: Scaler) -> Finding:
    """Answers that equal maps move nothing that the other one left alone."""
    facts = (_clipped("first", first), _clipped("second", second))
    pairs = ((first.setpoint, second.setpoint), (first.tolerance, second.tolerance))
    law = " ".join(f"(= {rational(a)} {rational(b)})" for a, b in pairs)
    names = {"wanted": "Real", "first": "Real", "second": "Real"}
    script = Certificate(names, facts, f"(and {law} (= first second))").script()
    message = f"{pair.first.name} and {pair.second.name} rest at the same values of {pair.signal}"
    numbers: Numbers = {"setpoint": (first.setpoint, ""), "at least": (first.low, ""), "at most": (first.high, "")}
    return pair.proved(message, numbers, script)


def _clipped(name: str, scaler: Scaler) -> str:
    low, high = rational(scaler.low), rational(scaler.high)
    return f"(= {name} (ite (< wanted {low}) {low} (ite (> wanted {high}) {high} wanted)))"


def _two_signals(pair: WriterPair, first: Scaler, second: Scaler) -> Finding:
    """Independent signals: one may ask for its most while the other asks for its least."""
    if _may_be_one(pair):
        return pair.undecided(
            f"needs to know whether {pair.first.name} and {pair.second.name} are two autoscalers or two metrics of one "
            "(then write one loop on max(a / target_a, b / target_b) with setpoint 1)"
        )
    up, down = (pair.first, pair.second) if first.high != second.low else (pair.second, pair.first)
    high, low = (first.high, second.low) if up is pair.first else (second.high, first.low)
    message = (
        f"{pair.first.name} and {pair.second.name} move {pair.signal} by different signals: "
        f"{up.name} takes it to {pair.shown(high)} while {down.name} takes it to {pair.shown(low)}"
    )
    witness = [
        Step(Fraction(0), f"the signal of {up.name} is far above its setpoint, that of {down.name} far below"),
        Step(up.period, f"{up.name} moves {pair.signal} up to {pair.shown(high)}"),
        Step(down.period, f"{down.name} moves it down to {pair.shown(low)}, and so on"),
    ]
    numbers: Numbers = {f"{up.name} at most": (high, pair.unit), f"{down.name} at least": (low, pair.unit)}
    assumptions = ("the two signals move independently of each other",)
    return pair.conflict(message, arithmetic(numbers, witness=witness), assumptions=assumptions)


def _may_be_one(pair: WriterPair) -> bool:
    """One autoscaler with several metrics is written as one loop for each: the same part, the same bounds."""
    one, other = pair.first.loop, pair.second.loop
    return one.part is not None and one.part == other.part and pair.values(pair.first) == pair.values(pair.second)


def _fight(pair: WriterPair, first: Scaler, second: Scaler, value: Fraction, view: str) -> Finding:
    """Answers that both read the same signal, and at `value` there is no common rest."""
    shared = view == SHARED
    shown = render_quantity(value, _dimension(pair))
    seen = f"a load of {shown} that the members share" if shared else f"{shown}"
    message = (
        f"{pair.first.name} and {pair.second.name} read the same signal and rest at different values of {pair.signal}: "
        f"with {seen} none is left alone by both"
    )
    numbers: dict[str, tuple[Fraction | float | int, str]] = {"signal": (value, "")}
    for name, scaler in zip(pair.names, (first, second), strict=True):
        numbers |= {f"{name} setpoint": (scaler.setpoint, ""), f"{name} at most": (scaler.high, "")}
    evidence = arithmetic(numbers, witness=_story(pair, first, second, value, shared=shared))
    proposals = [_one_law(pair, pair.first, pair.second), _one_law(pair, pair.second, pair.first)]
    places = _places(pair, first, second)
    return pair.conflict(message, evidence, places=places, assumptions=(view,), proposals=proposals)


def _dimension(pair: WriterPair) -> units.Dimension:
    target = pair.first.loop.target
    return target.setpoint.dimension if target and isinstance(target.setpoint, Quantity) else units.ONE


def _places(pair: WriterPair, first: Scaler, second: Scaler) -> tuple[Place, ...]:
    """Returns the setpoints where they differ, else the bounds."""
    if first.setpoint == second.setpoint:
        return pair.places()
    places = []
    for writer in (pair.first, pair.second):
        target = writer.loop.target
        assert target is not None
        assert target.setpoint is not None
        places.append(target.setpoint.place.labelled(f"{writer.name} holds the signal at this value"))
    return tuple(places)


def _story(pair: WriterPair, first: Scaler, second: Scaler, value: Fraction, *, shared: bool) -> Iterator[Step]:
    """Both write in turn, from the least count that both may choose."""
    x = max(first.low, second.low, Fraction(1))
    yield Step(Fraction(0), f"{pair.signal} is {pair.shown(x)}")
    for _ in range(3):
        for writer, scaler in ((pair.first, first), (pair.second, second)):
            x = scaler.next(x, value / x if shared and x else value)
            yield Step(None, f"{writer.name} writes {pair.shown(x)}")


def _one_law(pair: WriterPair, keeps: Writer, changed: Writer) -> Repair | None:
    """Setpoint and bounds of one loop written into the other: then both are the same map."""
    edits: list[Edit | None] = []
    mine, theirs = changed.loop.target, keeps.loop.target
    if mine and theirs and isinstance(mine.setpoint, Quantity) and isinstance(theirs.setpoint, Quantity):
        if mine.setpoint.low != theirs.setpoint.low:
            edits.append(repairs.change(pair.subject, mine.setpoint, theirs.setpoint.low))
        bounds = same_bounds(pair, keeps, changed)
        edits += list(bounds.edits) if bounds else []
    return repairs.proposal(*edits)
