"""Reads a percentage in a limit on members (`counts: web.ejected, at_most: 50 %`) as that share of all of them."""

from __future__ import annotations

from coherence.language.design import Design, Limit
from coherence.language.expressions.parse import parse
from coherence.language.expressions.tree import Name
from coherence.language.roles import counts
from coherence.language.schema_kinds import Formula, Quantity, Reading, Word
from coherence.language.words import COUNTS, STATES

OF_MEMBERS = frozenset(
    word for state in ("wanted", "extra", "old", "out of service", "left in service", "failing")
    for word in STATES[state]
)  # fmt: skip
OF_WORK = frozenset(
    word for state in ("in work", "connected", "waiting", "sent", "sent again", "failures") for word in STATES[state]
) - {"busy"}  # which may be a share itself


def check(design: Design, reading: Reading) -> None:
    """Reports percentages of which the limit does not say of what they are."""
    for limit in design.limits.values():
        tree = limit.counts.tree if limit.counts else None
        counted = tree.path if isinstance(tree, Name) else ""
        work, members = counted.rpartition(".")[2] in OF_WORK, bool(_counted_members(limit))
        for value in (limit.at_most, limit.at_least, limit.but_at_least):
            if not isinstance(value, Quantity) or not value.text.endswith("%"):
                continue
            if work:
                message = f"'{value}' does not say of what it is a share: {counted} is a count"
                reading.problem(
                    value.place, message, f"write a number, or `{value} of` a signal, `{value} of x in flight`"
                )
            elif members and not value.exact:
                message = f"a range of shares, '{value}', is not read here"
                reading.problem(value.place, message, "write one share, or a range of members without `%`")


def with_member_shares(design: Design) -> Design:
    """Returns the design with each percentage of members as an expression, `50 % of web.copies`."""
    if not any(map(_states_share, design.limits.values())):
        return design
    return design.replace(limits={name: _shared(limit) for name, limit in design.limits.items()})


def _states_share(limit: Limit) -> bool:
    return any(map(_is_percentage, (limit.at_most, limit.at_least, limit.but_at_least)))


def _is_percentage(value: object) -> bool:
    return isinstance(value, Quantity) and value.exact and value.text.endswith("%")


def _shared(limit: Limit) -> Limit:
    thing = _counted_members(limit)
    if not thing:
        return limit
    return limit.replace(
        at_most=_share(limit.at_most, thing), at_least=_share(limit.at_least, thing),
        but_at_least=_share(limit.but_at_least, thing),
    )  # fmt: skip


def _share(value: Quantity | Formula | Word | None, thing: str) -> Quantity | Formula | Word | None:
    if value is None or not _is_percentage(value):
        return value
    return Formula(parse(f"{value} of {thing}.copies"), str(value), value.place)


def _counted_members(limit: Limit) -> str:
    """Returns the thing whose members a limit counts: it rounds to whole ones, or its signal has a word for them."""
    tree = limit.counts.tree if limit.counts else None
    thing, _, word = tree.path.partition(".") if isinstance(tree, Name) else ("", "", "")
    return thing if limit.rounding is not None or counts(word, *COUNTS) or word in OF_MEMBERS else ""
