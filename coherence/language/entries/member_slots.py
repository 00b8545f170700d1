"""Reads how many requests each member of a thing works on at once, from the limits on what is in its work."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from coherence.base.queries import cached
from coherence.language.design import Design, Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.expressions.tree import Name
from coherence.language.limit_units import assumed_of_tokens, is_counted_by_loops, is_of_one_member
from coherence.language.schema_kinds import Quantity
from coherence.language.words import STATES

RUNNING = ("running", *STATES["in work"])  # what a limit counts that lets a member work on several requests


@dataclass(frozen=True)
class MemberSlots:
    """How many requests a member works on at once, `low` to `high`, and the limits that say so; without any it is 1."""

    low: Fraction = Fraction(1)
    high: Fraction = Fraction(1)
    limits: tuple[Limit, ...] = ()

    @property
    def text(self) -> str:
        """Returns the number of requests as people write it."""
        return f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"

    def assumed(self, thing: str) -> tuple[str, ...]:
        """Returns what a proof takes for granted that counts several requests of each member."""
        together = f"a request of {thing} takes its time, also where its member works on {self.text} at once"
        return (
            *([together] if self.high > 1 else []),
            *(text for limit in self.limits for text in assumed_of_tokens(limit)),
        )


ALONE = MemberSlots()


@cached
def _in_work(design: Design) -> dict[str, list[Limit]]:
    """Returns the limits on what is in work, by the thing whose requests they count."""
    by_thing: dict[str, list[Limit]] = {}
    for limit in design.limits.values():
        if (thing := _counted(limit)) and not total_in_work(design, limit):
            by_thing.setdefault(thing, []).append(limit)
    return by_thing


def _counted(limit: Limit) -> str:
    """Returns the thing of whose work a limit counts what is in it; or nothing."""
    path = limit.counts.tree.path if limit.counts is not None and isinstance(limit.counts.tree, Name) else ""
    thing, _, word = path.rpartition(".")
    return thing if word in RUNNING else ""


def total_in_work(design: Design, limit: Limit) -> str:
    """Returns the thing of which a limit allows so many requests in work of all members together; or nothing.

    Where there are as many members at all times: of fewer, each has to work on several, which the limit does not say.
    """
    thing = _counted(limit)
    component = design.components.get(thing)
    copies, most = component.copies if component is not None else None, most_allowed(design, limit)
    if limit.per is not None or limit.at_least is not None or _partly(limit) or most is None:
        return ""
    enough = isinstance(copies, Quantity) and copies.low > 1 and copies.low >= most.high
    return thing if enough and not is_counted_by_loops(design, thing) else ""


def _partly(limit: Limit) -> bool:
    """Decides whether a limit holds at times, in places or for some actions alone."""
    return any((limit.window is not None, limit.during is not None, limit.scope is not None, limit.actions))


def member_slots(design: Design, thing: str) -> MemberSlots | None:
    """Returns how many requests each member of a thing works on at once; None where its limits do not say it."""
    limits = _in_work(design).get(thing, [])
    numbers = [_of_one_member(design, thing, limit) for limit in limits]
    stated = [number for number in numbers if number is not None and number.low >= 1]
    if len(stated) < len(limits):
        return None
    if not stated:
        return ALONE
    return MemberSlots(min(q.low for q in stated), min(q.high for q in stated), tuple(limits))


def closing(design: Design, thing: str) -> tuple[Limit, Quantity] | None:
    """Returns a limit under which perhaps no member of a thing works on a request, and its number; None without one.

    None of each of several places is none of all.
    """
    numbers = ((limit, most_allowed(design, limit)) for limit in _in_work(design).get(thing, []))
    shut = [(limit, most) for limit, most in numbers if most is not None and most.low <= 0 and _is_cap(limit)]
    return min(shut, key=lambda pair: (not is_shut(*pair), pair[1].high), default=None)


def is_shut(limit: Limit, most: Quantity) -> bool:
    """Decides whether a limit lets nothing be in work, at all times."""
    return most.high <= 0 and limit.during is None


def _is_cap(limit: Limit) -> bool:
    return limit.at_least is None and limit.window is None and limit.scope is None and not limit.actions


def limits_of_all(design: Design, thing: str) -> list[Limit]:
    """Returns the limits on what is in work at a thing that do not say how much of it each member works on."""
    return [limit for limit in _in_work(design).get(thing, []) if _of_one_member(design, thing, limit) is None]


def _of_one_member(design: Design, thing: str, limit: Limit) -> Quantity | None:
    """Returns the number of a limit that holds for each member at every time, or of the only member there is."""
    holds = is_of_one_member(design, limit, thing) and not _partly(limit) and limit.at_least is None
    return most_allowed(design, limit) if holds else None
