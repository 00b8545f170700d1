"""Reads limits in the unit in which engines count: members, and requests in work.

A percentage in a limit on members (`counts: web.ejected, at_most: 50 %`) is that share of all of them; elsewhere, where
a number of members stands beside one (`web.ejected <= 50 %` in a promise), it is asked of what.

A limit on the tokens of what is in work in each member (`counts: llm.tokens`, no window) is one on how many requests
that is: so the cache of a model server bounds what it works on.  100,000 tokens are 50 requests of 2,000.  Of lengths
that differ at least so many fit as the longest ones, and, where others wait, as leave no more free than the longest
one; on average at most so many as the mean says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.graphs import reached
from coherence.base.places import Place
from coherence.base.reads import unnoted
from coherence.base.units import ONE
from coherence.language.design import Design, Limit
from coherence.language.expressions.parse import parse
from coherence.language.expressions.tree import Arithmetic, Compare, Name, Number, Tree, walk
from coherence.language.expressions.tree import Call as Function
from coherence.language.names import bare_names, formulas, state_variable
from coherence.language.roles import OF_WORDS, SendCount, SendWorth, counts, is_stated
from coherence.language.schema_kinds import Formula, Quantity, Reading, Word
from coherence.language.shared_rates import ScaledRate
from coherence.language.words import COUNTS, MEMBER, MEMBERS, STATES
from coherence.language.workloads import Spread2, Workload

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


ONCE, NOTHING = SendWorth(), Name("")


@dataclass(frozen=True)
class RequestsHeld(ScaledRate):
    """How many requests hold so many tokens as a limit states, which counts `tokens` of them."""

    worth: SendWorth = ONCE

    @property
    def share(self) -> Fraction | None:
        """Returns how many requests a token is; None where their lengths differ."""
        return 1 / self.worth.least if self.worth.least == self.worth.most else None


@dataclass(frozen=True)
class CountOfRequests(Formula):
    """Requests in work, counted by the `tokens` that they hold."""

    tokens: Tree = NOTHING


@unnoted()
def with_held_tokens(design: Design) -> Design:
    """Returns the design in which each limit on tokens that are held counts the requests that hold them."""
    limits = {name: _in_requests(design, limit) for name, limit in design.limits.items()}
    return design.replace(limits=limits) if any(limits[n] is not design.limits[n] for n in limits) else design


def lacking_length(design: Design, limit: Limit) -> str:
    """Returns what to ask for before the requests that hold the tokens of a limit can be counted."""
    count = _held(design, limit)
    workloads = _senders(design, count.callee) if count is not None else []
    if count is None or not workloads:
        return ""
    worths = {workload.name: count.worth(workload) for workload in workloads}
    endless = [name for name, worth in worths.items() if worth is not None and worth.most is None]
    return count.lacking(workloads) or (f"the longest request of {' and '.join(endless)} (`max`)" if endless else "")


def assumed_of_tokens(limit: Limit) -> tuple[str, ...]:
    """Returns what is taken for granted where a limit counts requests by their tokens."""
    if not isinstance(limit.at_most, RequestsHeld):
        return ()
    alike = limit.at_most.share is not None
    apart = () if alike else (f"how long a request takes does not depend on the tokens that it holds in {limit.name}",)
    return (f"each request holds all of its tokens in {limit.name} while it is in work", *apart)


def _in_requests(design: Design, limit: Limit) -> Limit:
    count = _held(design, limit)
    if count is None or limit.counts is None:
        return limit
    workloads = _senders(design, count.callee)
    worths = [count.worth(workload) for workload in workloads]
    worth = _any_of([worth for worth in worths if worth is not None]) if worths and all(worths) else None
    stated = limit.at_most.stated if isinstance(limit.at_most, RequestsHeld) else limit.at_most
    if worth is None or not worth.most or not isinstance(stated, Quantity):
        return _as_stated(limit, stated)
    low, high = _fitting(stated, worth)
    also = tuple(place for workload in workloads for place in _places(count, workload))
    text = f"{low}" if low == high else f"{low} .. {high}"
    held = RequestsHeld(Fraction(low), Fraction(high), ONE, text, stated.place, stated.varies, also, stated, (), worth)
    counts = CountOfRequests(
        Name(f"{count.callee}.ongoing"), limit.counts.text, limit.counts.place, _counted_tokens(limit)
    )
    return limit.replace(at_most=held, counts=counts)


def _as_stated(limit: Limit, stated: Quantity | Formula | object) -> Limit:
    """Returns the limit as it is written: its requests can no longer be counted."""
    if limit.counts is None or not isinstance(limit.counts, CountOfRequests):
        return limit
    counts = Formula(limit.counts.tokens, limit.counts.text, limit.counts.place)
    return limit.replace(at_most=stated, counts=counts)


def _counted_tokens(limit: Limit) -> Tree:
    assert limit.counts is not None
    return limit.counts.tokens if isinstance(limit.counts, CountOfRequests) else limit.counts.tree


def _held(design: Design, limit: Limit) -> SendCount | None:
    """Returns whose tokens a limit counts while they are in work, in each member; None where it counts others."""
    partly = (limit.window, limit.during, limit.scope, limit.at_least, limit.but_at_least)
    redone = limit.when_full is not None and not (limit.waits or limit.rejects)
    if limit.counts is None or redone or limit.actions or any(key is not None for key in partly):
        return None
    match _counted_tokens(limit):
        case Function(function="sum of", arguments=(Name(path=path),)):
            head, _, word = path.partition(".")
            senders = [name for name in design.workload if head in (name, name.removesuffix("s"))]
            things = {c.callee.text for c in design.calls if c.callee and c.caller and c.caller.text in senders}
            alone = (
                len(senders) == 1 and len(things) == 1 and _senders(design, *things) == [design.workload[senders[0]]]
            )
            thing = things.pop() if alone else ""
        case Name(path=path):
            thing, _, word = path.rpartition(".")
        case _:
            return None
    if not thing or word not in OF_WORDS or is_stated(design, thing, word):
        return None
    return SendCount(thing, None, OF_WORDS[word]) if is_of_one_member(design, limit, thing) else None


def is_of_one_member(design: Design, limit: Limit, thing: str) -> bool:
    """Decides whether a limit holds for each member of a thing, or for the only one that there is.

    What states no members, and is given none by loops, is one.
    """
    if limit.per is not None:
        return limit.per.text in (*MEMBER, thing)
    component = design.components.get(thing)
    copies = component.copies if component is not None else None
    single = copies is None or (isinstance(copies, Quantity) and copies.low == copies.high == 1)
    return component is not None and single and not is_counted_by_loops(design, thing)


def is_counted_by_loops(design: Design, thing: str) -> bool:
    """Decides whether a loop writes how many members a thing has."""
    paths = (loop.written.rpartition(".") for loop in design.loops.values())
    return any(head == thing and word in MEMBERS for head, _, word in paths)


def _senders(design: Design, thing: str) -> list[Workload]:
    """Returns the workloads whose requests come to a thing, also by way of others."""
    callers: dict[str, list[str]] = {}
    for call in design.calls:
        if call.caller is not None and call.callee is not None:
            callers.setdefault(call.callee.text, []).append(call.caller.text)
    names = reached([thing], lambda name: callers.get(name, ()))
    return [workload for name, workload in design.workload.items() if name in names or name == thing]


def _places(count: SendCount, workload: Workload) -> Iterator[Place]:
    """Yields where the lengths of a request are stated, with what they are at most."""
    for length in count.lengths(workload):
        both = (length.mean, length.max) if isinstance(length, Spread2) else (length,)
        yield from (number.place for number in both if number is not None)


def _any_of(worths: list[SendWorth]) -> SendWorth:
    """Returns what a request of any of some workloads is worth."""
    ends = [worth.most for worth in worths if worth.most is not None]
    most = max(ends) if len(ends) == len(worths) else None
    return SendWorth(min(w.low for w in worths), max(w.high for w in worths), min(w.least for w in worths), most)


def _fitting(allowed: Quantity, worth: SendWorth) -> tuple[int, int]:
    """Returns how many requests fit: at least, and at most on average, where none has less than a token."""
    longest = worth.most or worth.high
    least = max(math.floor(allowed.low / longest), math.floor((allowed.low - longest) / worth.high))
    mean = max(worth.low, Fraction(1))
    whole = worth.least == worth.low  # then none is shorter than the mean
    return least, (math.floor if whole else math.ceil)(allowed.high / mean)
