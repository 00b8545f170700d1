"""Asks whether loops settle without what boundaries make of their commands and readings, or with that of another place.

The verdict is that of `sustained-oscillation` (COH301), asked of the changed design.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base import units
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Verdict
from coherence.findings.question_input import Subject
from coherence.language import names
from coherence.language.design import Design
from coherence.language.expressions.tree import names as names_in
from coherence.language.infrastructure import Boundary, Infrastructure
from coherence.language.schema_kinds import Quantity
from coherence.loops.checks._oscillation import loop_finding
from coherence.loops.checks.oscillation import QUESTION as OSCILLATION
from coherence.loops.designs.groups import Group, groups
from coherence.model.boundaries import between, delays_between

DELAYS = ("added_delay", "reading_delay")
GAINS = ("gain", "reading_gain", "granularity")


def with_infrastructure(design: Design, infrastructure: Infrastructure | None) -> Design:
    """Returns the design over other infrastructure, with the rates that its boundaries leave."""
    from coherence.language.shared_rates import with_shared_rates

    changed = design.replace(infrastructure=infrastructure)
    return with_shared_rates(changed) if changed.boundaries else changed


def without(design: Design, keys: Iterable[str]) -> Design:
    """Returns the design in which boundaries leave commands and readings as they are, in these respects."""
    infrastructure, left_out = design.infrastructure, frozenset(keys)
    if infrastructure is None or infrastructure.boundaries is None:
        return design
    boundaries = {name: _neutral(boundary, left_out) for name, boundary in infrastructure.boundaries.items()}
    return design.replace(infrastructure=infrastructure.replace(boundaries=boundaries))


def _neutral(boundary: Boundary, keys: frozenset[str]) -> Boundary:
    delays = {key: None for key in DELAYS if key in keys}
    constants = {key: value for key, value in boundary.constants.items() if key not in keys}
    return boundary.replace(constants=constants, **delays)


def verdict_about(subject: Subject, design: Design, loops: tuple[str, ...]) -> Finding | None:
    """Returns whether these loops come to rest in a design; None where they are no group of it."""
    changed = replace(subject, design=design)
    own = [number for number, group in enumerate(groups(changed)) if group.names == loops]
    return loop_finding(OSCILLATION, changed, own[0]) if own else None


def is_open(finding: Finding | None) -> bool:
    """Whether it is not decided if loops settle, though all values are there."""
    return finding is not None and finding.verdict is Verdict.UNDECIDED and not finding.lacks_number


def is_rest(finding: Finding | None) -> bool:
    """Whether loops are proved to settle."""
    return finding is not None and finding.verdict is Verdict.PROVED


def swings(finding: Finding | None) -> bool:
    """Whether loops are shown never to settle."""
    return finding is not None and finding.verdict is Verdict.CONFLICT


def crossed(design: Design, group: Group) -> dict[str, Quantity]:
    """Returns what boundaries on the way of commands and readings of a group say: `boundary.key` -> value."""
    values: dict[str, Quantity] = {}
    for name in group.names:
        loop = design.loops[name]
        values |= {f"{where}.{key}": value for (where, key), value in delays_between(design, loop).items()}
        signal = loop.actuation.signal if loop.actuation is not None else None
        read = {path for formula in names.loop_formulas(loop) for path in names_in(formula.tree)}
        for path in sorted({*read, *((signal.text,) if signal is not None else ())}):
            thing = names.resolve(path, design).partition(".")[0]
            for boundary, lies in between(design, loop, thing) if loop.inside else ():
                stated = {key: boundary.constants.get(key) for key in GAINS}
                values |= {f"{boundary.name}.{key}": v for key, v in stated.items() if lies and isinstance(v, Quantity)}
    return values


def settle(loops: tuple[str, ...]) -> str:
    """Returns that loops settle, in words."""
    return f"{' and '.join(loops)} {'settles' if len(loops) == 1 else 'settle'}"


def delay_of(values: dict[str, Quantity]) -> Fraction:
    """Returns the longest delay of all that is crossed (s)."""
    return sum((v.high for name, v in values.items() if name.rpartition(".")[2] in DELAYS), Fraction(0))


def slower(subject: Subject, loops: Iterable[str], delay: Fraction) -> Iterator[Repair]:
    """Yields periods that are just longer than the delay, where loops state theirs."""
    edits = []
    for name in loops:
        timescale = subject.design.loops[name].timescale
        period = timescale.period if timescale is not None else None
        if period is None or not period.exact:
            return
        if period.low <= delay:
            step = _last_digit(period.text)
            edits.append(repairs.change(subject, period, (math.floor(delay / step) + 1) * step))
    repair = repairs.proposal(*edits)
    yield from [repair] if repair is not None else []


def _last_digit(text: str) -> Fraction:
    """Returns one of the last digit of a duration, at most a second: 1 ms of `15 ms`, 0.1 s of `1.5 s`."""
    match = re.fullmatch(r"[0-9]+(?:\.([0-9]+))?\s*([a-zµ]+)", text.strip("'\""))
    unit = units.UNITS.get(match[2]) if match else None
    return min(Fraction(1), unit[0] / 10 ** len(match[1] or "")) if match and unit else Fraction(1)
