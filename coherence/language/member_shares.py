"""Reads a percentage in a limit on members (`counts: web.ejected, at_most: 50 %`) as that share of all of them.

Elsewhere, where a number of members stands beside one (`web.ejected <= 50 %` in a promise), it is asked of what.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.language.design import Design, Limit
from coherence.language.expressions.parse import parse
from coherence.language.expressions.tree import Arithmetic, Compare, Name, Number, Tree, walk
from coherence.language.expressions.tree import Call as Function
from coherence.language.names import bare_names, formulas, state_variable
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


SENDS = ("attempts", "in flight", "count by")  # functions whose values are counts of no members


def check(design: Design, reading: Reading) -> None:
    """Reports percentages of which the limit does not say of what they are."""
    for limit in design.limits.values():
        for value in (limit.at_most, limit.at_least, limit.but_at_least):
            share = _percentage(design, value)
            if thing := _counted_members(limit):
                for text, place in _parts_of_one(value):
                    _unclear(str(limit.counts), thing, text, place, reading)
            if share is None or value is None:
                continue
            if counted := _counts_no_share(design, limit):
                message = f"'{value}' does not say of what it is a share: {counted} is a count"
                reading.problem(
                    value.place, message, f"write a number, or `{share} of` a signal, `{share} of x in flight`"
                )
            elif _counted_members(limit) and not share.exact:
                message = f"a range of shares, '{value}', is not read here"
                reading.problem(value.place, message, "write one share, or a range of members without `%`")
    for formula in formulas(design):
        for node in walk(formula.tree):
            if isinstance(node, Compare):
                _compared(design, formula, node, reading)
    for loop in design.loops.values():
        if loop.actuation is not None and (thing := _thing_of(design, loop.written)):
            for value in (*loop.actuation.bounds, loop.actuation.by, loop.actuation.to):
                if isinstance(value, Quantity) and value.text.endswith("%"):
                    _unclear(loop.written, thing, str(value), value.place, reading)


def _parts_of_one(value: Quantity | Formula | Word | None) -> Iterator[tuple[str, Place]]:
    """Yields numbers that no whole member is: a part of one (`0.5`), and percentages inside of functions."""
    if isinstance(value, Quantity) and 0 < value.high < 1 and value.dimension == ONE and not value.text.endswith("%"):
        yield str(value), value.place
    if isinstance(value, Formula):
        calls = (node for node in walk(value.tree) if isinstance(node, Function))
        parts = (part for node in calls for part in node.arguments if isinstance(part, Number))
        texts = (value.text[slice(*part.span)] for part in parts)
        yield from ((text, value.place) for text in texts if text.endswith("%"))


def _compared(design: Design, formula: Formula, node: Compare, reading: Reading) -> None:
    """Reports a number of members that is compared with a percentage (`web.ejected <= 50 %`)."""
    for members, number in ((node.left, node.right), (node.right, node.left)):
        if isinstance(members, Name) and isinstance(number, Number):
            text, thing = formula.text[slice(*number.span)], _thing_of(design, members.path)
            if thing and text.endswith("%"):
                _unclear(members.path, thing, text, formula.place, reading)


def _unclear(path: str, thing: str, share: str, place: Place, reading: Reading) -> None:
    message = f"'{share}' does not say of what it is a share: {path} is a number of members"
    reading.problem(place, message, f"write `{share} of {thing}.copies`, or `{path} / {thing}.copies`")


def _thing_of(design: Design, path: str) -> str:
    """Returns the thing whose members a signal counts by its word, where it does not state itself what that is."""
    thing, _, word = bare_names(design).get(path, path).partition(".")
    component = design.components.get(thing)
    stated = component is not None and (word in component.constants or word == state_variable(component))
    return thing if component is not None and _is_of_members(word) and not stated else ""


def with_member_shares(design: Design) -> Design:
    """Returns the design with each percentage of members as an expression, `50 % of web.copies`."""
    limits = design.limits
    shared = {name: _shared(design, limit) for name, limit in limits.items()}
    return design.replace(limits=shared) if any(shared[name] is not limits[name] for name in limits) else design


def _shared(design: Design, limit: Limit) -> Limit:
    thing = _counted_members(limit)
    stated = (limit.at_most, limit.at_least, limit.but_at_least)
    if not thing or not any(_percentage(design, value) for value in stated):
        return limit
    at_most, at_least, but_at_least = (_share(design, value, thing) for value in stated)
    return limit.replace(at_most=at_most, at_least=at_least, but_at_least=but_at_least)


def _share(design: Design, value: Quantity | Formula | Word | None, thing: str) -> Quantity | Formula | Word | None:
    share = _percentage(design, value)
    if value is None or share is None or not share.exact:
        return value
    return Formula(parse(f"{share} of {thing}.copies"), str(value), value.place)


def _percentage(design: Design, value: object) -> Quantity | None:
    """Returns a percentage that is stated by itself, or by the name of a constant; None for anything else."""
    if isinstance(value, Formula) and isinstance(value.tree, Name):
        thing, _, key = bare_names(design).get(value.tree.path, value.tree.path).partition(".")
        component = design.components.get(thing)
        value = component.constants.get(key) if component is not None else None
    return value if isinstance(value, Quantity) and value.text.endswith("%") else None


def _counts_no_share(design: Design, limit: Limit) -> str:
    """Returns what a limit counts where a percentage of it says nothing; empty where it is a share, or of members."""
    if limit.counts is None or _counted_members(limit):
        return ""
    tree, text = limit.counts.tree, limit.counts.text
    if isinstance(tree, Function):
        return text if tree.function in SENDS else ""
    paths = _added_up(tree)
    words = [path.rpartition(".")[2] for path in paths]
    counts_work = any(path in design.timers or word in OF_WORK for path, word in zip(paths, words, strict=True))
    return text if counts_work or (len(paths) > 1 and all(map(_is_of_members, words))) else ""


def _counted_members(limit: Limit) -> str:
    """Returns the thing whose members a limit counts: it rounds to whole ones, or its signals have words for them."""
    paths = _added_up(limit.counts.tree) if limit.counts is not None else ()
    things = {path.partition(".")[0] for path in paths}
    members = all(limit.rounding is not None or _is_of_members(path.partition(".")[2]) for path in paths)
    return things.pop() if members and len(things) == 1 else ""


def _is_of_members(word: str) -> bool:
    return counts(word, *COUNTS) or word in OF_MEMBERS


def _added_up(tree: Tree) -> tuple[str, ...]:
    """Returns the signals that an expression adds up; none where it does anything else."""
    match tree:
        case Name(path=path):
            return (path,)
        case Arithmetic(op="+", left=left, right=right):
            parts = _added_up(left), _added_up(right)
            return parts[0] + parts[1] if all(parts) else ()
    return ()
