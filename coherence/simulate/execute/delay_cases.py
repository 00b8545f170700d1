"""Enumerates the delays that stand for every delay in open ranges of sampled loops.

What a run of sampled loops reads depends on delays only by the order of instants: whether a command has landed when a
sample is taken, and whether it was there at the time that a sample looks at.  Times of samples, steps and stated
delays are multiples of one unit, so that a delay is compared with multiples of it: each of these, and one value
between two of them, stands for all.  Of two delays their sum and their difference are compared as well.  A loop whose
phase is not stated may meet a delay half way between two multiples.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from coherence.base.number_text import render_seconds
from coherence.base.reads import unnoted
from coherence.language.design import Design
from coherence.language.entries.leaves import FOREIGN
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import names as names_in
from coherence.language.schema_kinds import Quantity
from coherence.model.boundaries import delays_between
from coherence.model.model import Model
from coherence.simulate.execute.lookback import durations, look_backs, trees_of
from coherence.simulate.execute.schedules import grid

SPANS = ("lands", "hold_down", "hold_up", "cooldown")
MOST_CASES = 400
MOST_OPEN = 2
NOTHING = Fraction(0)

Key = tuple[str, str, str]  # section, entry, key


@dataclass(frozen=True)
class OpenDelay:
    """A delay of a loop or of a boundary that is an unknown constant within a range."""

    key: Key
    value: Quantity

    @property
    def name(self) -> str:
        """Returns `lands of hpa`."""
        return f"{self.key[2]} of {self.key[1]}"

    @property
    def assumed(self) -> bool:
        """Returns whether a part states the range, not the design."""
        return self.value.place.file.startswith(FOREIGN)


@dataclass(frozen=True)
class DelayCase:
    """The design at one value of each open delay, which stands for all in the same order to the instants of a run."""

    design: Design
    values: tuple[Fraction, ...]


def open_delays(model: Model) -> tuple[OpenDelay, ...]:
    """Returns the open delays that loops of a model and boundaries on their way have."""
    stated: dict[Key, Quantity] = {}
    for loop in model.loops:
        clock = loop.source.timescale
        own = {key: getattr(clock, key) for key in SPANS} if clock is not None else {}
        stated |= {("loops", loop.name, key): value for key, value in own.items() if value is not None}
        stated |= {("boundaries", *way): value for way, value in delays_between(model.design, loop.source).items()}
    return tuple(OpenDelay(key, value) for key, value in stated.items() if not value.exact)


def delay_cases(
    model: Model, delays: Sequence[OpenDelay], of: Callable[[Design], Model], waits: tuple[Fraction, ...] = ()
) -> tuple[DelayCase, ...]:
    """Returns designs that stand for every value of these delays, least ones first; `of`: the model of one, sliced.

    `waits`: spans with which times are compared.  Raises NotExactError where they are not finitely many or too many,
    NotCommensurateError.
    """
    if len(delays) > MOST_OPEN:
        raise NotExactError(f"{', '.join(delay.name for delay in delays)} are more than {MOST_OPEN} open ranges")
    with unnoted():
        still = of(at(model.design, delays, [NOTHING] * len(delays)))
        _only_order_counts(still)
        unit = grid(still, waits)[0] / _parts_of_a_unit(still, len(delays))
        values = list(itertools.islice(_values(delays, unit), MOST_CASES + 1))
        if len(values) > MOST_CASES:
            raise NotExactError(f"more than {MOST_CASES} delays stand for all of {_ranges(delays)}")
        return tuple(DelayCase(at(model.design, delays, chosen), tuple(chosen)) for chosen in values)


def at(design: Design, delays: Sequence[OpenDelay], values: Iterable[Fraction]) -> Design:
    """Returns the design with one value of each of these delays."""
    for delay, seconds in zip(delays, values, strict=True):
        section, entry, key = delay.key
        known = replace(delay.value, low=seconds, high=seconds, text=render_seconds(seconds))
        if section == "loops":
            loop = design.loops[entry]
            assert loop.timescale is not None
            changed = loop.replace(timescale=loop.timescale.replace(**{key: known}))
            design = design.replace(loops={**design.loops, entry: changed})
        else:
            around = design.infrastructure
            assert around is not None
            walls = {**design.boundaries, entry: design.boundaries[entry].replace(**{key: known})}
            design = design.replace(infrastructure=around.replace(boundaries=walls))
    return design


def _only_order_counts(model: Model) -> None:
    """Raises NotExactError where a delay changes more than the order of instants: a value that moves between them."""
    moving = next((s.path for s in model.states.values() if s.flow is not None or s.switch is not None), "")
    if moving:
        raise NotExactError(f"{moving} flows: its value depends on the very delay")
    if any(name == "mean_over" for name, _ in look_backs(model)):
        raise NotExactError("a mean over time depends on the very delay")
    if loose := next((p for p in durations(model) if p in model.constants and not model.constants[p].range.exact), ""):
        raise NotExactError(f"needs one value of {loose}")
    if any("time" in names_in(tree) for tree in trees_of(model)):
        raise NotExactError("a formula reads the time")


def _parts_of_a_unit(model: Model, delays: int) -> int:
    """Returns into how many parts phases that are not stated cut a unit."""
    free = [loop for loop in model.loops if loop.phase is None]
    scraped = any(name == "sampled" for name, _ in look_backs(model))
    if not free or (len(model.loops) == 1 and not model.states and not scraped):
        return 1
    if len(free) > 1 or delays > 1:
        raise NotExactError(f"phases of {' and '.join(loop.name for loop in free)} beside open delays: state `phase`")
    return 2


def _values(delays: Sequence[OpenDelay], unit: Fraction) -> Iterator[tuple[Fraction, ...]]:
    """Yields values of the delays, one of each order in which they stand to the multiples of a unit."""
    first, *others = (delay.value for delay in delays)
    if not others:
        yield from ((value,) for value in _with_middles(_multiples(first.low, first.high, unit)))
        return
    second, seen = others[0], set[tuple[object, ...]]()
    crossings = _multiples(first.low, first.high, unit / 2)
    for end in (second.low, second.high):
        crossings |= _multiples(first.low, first.high, unit, end) | _multiples(first.low, first.high, unit, -end)
    for here in _with_middles(crossings):
        rows = [_multiples(second.low, second.high, unit, shift) for shift in (NOTHING, here, -here)]
        for there in _with_middles(set().union(*rows)):
            cell = tuple(_order(form, unit) for form in (here, there, here + there, here - there))
            if cell not in seen:
                seen.add(cell)
                yield here, there


def _order(seconds: Fraction, unit: Fraction) -> tuple[int, bool]:
    """Returns the multiple of a unit at or below a time, and whether it is that."""
    whole = floor(seconds / unit)
    return whole, whole * unit == seconds


def _multiples(low: Fraction, high: Fraction, unit: Fraction, shift: Fraction = NOTHING) -> set[Fraction]:
    """Returns the ends of a range, and the multiples of a unit plus a shift between them."""
    first, last = ceil((low - shift) / unit), floor((high - shift) / unit)
    if last - first > MOST_CASES:
        raise NotExactError(f"more than {MOST_CASES} delays stand for all of {render_seconds(low)} .. "
                            f"{render_seconds(high)}")  # fmt: skip
    return {low, high, *(k * unit + shift for k in range(first, last + 1))}


def _with_middles(values: Iterable[Fraction]) -> list[Fraction]:
    """Returns values in order, each two with the one half way between them."""
    ordered = sorted(values)
    return sorted({*ordered, *((low + high) / 2 for low, high in itertools.pairwise(ordered))})


def _ranges(delays: Sequence[OpenDelay]) -> str:
    return " and ".join(f"{delay.name} = {delay.value}" for delay in delays)


def render_values(delays: Sequence[OpenDelay], values: Sequence[Fraction]) -> tuple[str, ...]:
    """Returns the value of each delay in words."""
    return tuple(f"{delay.name} = {render_seconds(values[n])}" for n, delay in enumerate(delays))


def where(cases: Sequence[Fraction], hits: Sequence[bool]) -> str:
    """Returns in words the part of a range whose cases are hit: ends of the range and multiples are points."""
    runs: list[list[int]] = []
    for number, hit in enumerate(hits):
        if hit and runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        elif hit:
            runs.append([number, number])
    return " or ".join(_stretch(cases, first, last) for first, last in runs)


def _stretch(cases: Sequence[Fraction], first: int, last: int) -> str:
    """Returns in words a stretch of cases: those of even number are points, those between stand for what is between."""
    begins = render_seconds(cases[first] if first % 2 == 0 else cases[first - 1])
    ends = render_seconds(cases[last] if last % 2 == 0 else cases[last + 1])
    if last == len(cases) - 1:
        return f"from {begins} on" if first % 2 == 0 else f"above {begins}"
    if first == 0:
        return f"up to {ends}" if last % 2 == 0 else f"below {ends}"
    if first == last and first % 2 == 0:
        return f"at {begins}"
    inside = (first % 2, last % 2)
    return f"between {begins} and {ends}" + {(0, 0): ", both included", (1, 1): ""}.get(inside, ", one included")
