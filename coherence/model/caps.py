"""Lowers limits on a state, or on what loops write: at every instant it is let come up to the least of them.

Of what would go beyond as much as fits is let through.  A limit that holds at times, in some places, once for each of
something or over a window bounds no value, and one beyond which a signal begins brings it down by nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial

from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.base.reads import note_places, rebuilt, unnoted
from coherence.language.design import Design, Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.expressions.tree import Name
from coherence.language.names import bare_names
from coherence.model.model import Interval, SampledLoop

TURNS_AWAY = ("reject", "wait")  # `when_full` of a limit beyond which nothing comes
LOWERED = "lowered: "  # begins the label of a place that stands for a whole limit


def lowered(design: Design, read: Iterable[Place]) -> frozenset[str]:
    """Returns the limits of a design that were taken from its model as bounds by whoever has read these places.

    A limit without `when_full` may have been read of a design in which it is tried with one, never of its own.
    """
    names = {place.label.removeprefix(LOWERED) for place in read if place.label.startswith(LOWERED)}
    return frozenset(name for name in names if name in design.limits and design.limits[name].when_full is not None)


@cached
def counting_limits(design: Design) -> Mapping[str, list[Limit]]:
    """Returns the limits with a number that hold at every time, by the full path that they count: reads nothing.

    A limit that a loop sets has no number.
    """
    by_path: dict[str, list[Limit]] = {}
    with unnoted():
        index, acting = bare_names(design), [loop.actuation for loop in design.loops.values()]
        moved = {act.signal.text.partition(".")[0] for act in acting if act is not None and act.signal is not None}
        for limit in (limit for name, limit in design.limits.items() if name not in moved):
            partly = limit.per or limit.during or limit.scope or limit.window or limit.actions or limit.rounding
            most = most_allowed(design, limit)
            if limit.counts and isinstance(limit.counts.tree, Name) and not partly and most is not None and most.exact:
                path = limit.counts.tree.path
                by_path.setdefault(index.get(path, path), []).append(limit)
    return by_path


def capped(design: Design, path: str, stated: Interval, words: Sequence[str] = TURNS_AWAY) -> Interval:
    """Returns an interval up to the least limit on a path that does one of some words when full, which it reads."""
    with unnoted():
        limits = [limit for limit in counting_limits(design).get(path, ()) if _word(limit) in words]
    note_places(limit.place.labelled(LOWERED + limit.name) for limit in limits)
    read = [(limit.counts, _word(limit), most_allowed(design, limit)) for limit in limits]
    numbers = [most.low for counts, _, most in read if most is not None and counts and counts.tree is not None]
    return Interval(stated.low, min([*([stated.high] if stated.high is not None else []), *numbers], default=None))


def _word(limit: Limit) -> str:
    return limit.when_full.text if limit.when_full is not None else ""


def within_caps(design: Design, writers: Sequence[SampledLoop], begins: Interval | None) -> Sequence[SampledLoop]:
    """Returns the writers of a signal, each within the limits on it; as they are where one is beyond them.

    `begins`: where the signal is stated to begin; None: anywhere in the bounds of its writers.
    """

    def bounds(loop: SampledLoop) -> Interval:
        within = capped(design, loop.signal, loop.bounds)
        return Interval(within.low, Fraction(within.high // 1)) if loop.integer and within.high else within

    with unnoted():
        if not has_caps(design, writers[0].signal, begins, [loop.bounds for loop in writers]):
            return writers
    return [rebuilt(loop, bounds=partial(bounds, loop)) for loop in writers]


def has_caps(design: Design, path: str, begins: Interval | None, bounds: Iterable[Interval]) -> bool:
    """Decides whether limits bound a signal that neither begins beyond them nor is kept beyond them by its writers."""
    most = capped(design, path, Interval(None, None)).high
    beyond = most is not None and begins is not None and (begins.high is None or begins.high > most)
    return most is not None and not beyond and all(low.low is None or low.low <= most for low in bounds)
