"""Counts every pair of policies once: in conflict, safe, undecided or not modelled.

No pair is walked over.  Each policy has one integer whose bits are the policies that it shares a thing with, and one
for each verdict that names both; a union is an `or` and a count is a population count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TypeVar

from coherence.base.records import Record
from coherence.findings.finding import Accounting, Finding, Verdict
from coherence.language import names
from coherence.language.design import Call, Design, Limit, Loop, Timer
from coherence.language.expressions import names as used
from coherence.language.schema_kinds import Formula

# the worst of a pair counts
ORDER = (Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.VACUOUS, Verdict.NOTE, Verdict.PROVED)
P = TypeVar("P", bound=Record)
Masks = dict[int, int]  # number of a policy -> bits of policies


def policies(design: Design) -> tuple[str, ...]:
    """Returns the names of all policies: loops, calls, timers and limits."""
    return (*design.loops, *_calls(design), *design.timers, *design.limits)


def _calls(design: Design) -> tuple[str, ...]:
    """Returns the names of calls, each once."""
    return tuple(dict.fromkeys(call.name for call in design.calls))


def account(design: Design, findings: Iterable[Finding]) -> Accounting:
    """Returns how many pairs have which verdict: the worst that names both, else safe where they share nothing.

    A pair of which there is but a note is not modelled: no promise is about it, so it is neither safe nor open.
    """
    known = policies(design)
    bits = _bits(known)
    named = _named(known, bits, findings)
    shared = _shared(known, things_of_all(design))
    worse: Masks = {}
    counts = {}
    for verdict in ORDER:
        counts[verdict] = _count(named[verdict], worse)
        for number, mask in named[verdict].items():
            worse[number] = worse.get(number, 0) | mask
    conflict, undecided = counts[Verdict.CONFLICT], counts[Verdict.UNDECIDED] + counts[Verdict.VACUOUS]
    left = counts[Verdict.NOTE] + _count(shared, worse)
    pairs = len(known) * (len(known) - 1) // 2
    return Accounting(
        loops=len(design.loops), calls=len(_calls(design)), timers=len(design.timers), limits=len(design.limits),
        promises=len(design.promises), conflict=conflict, safe=pairs - conflict - undecided - left,
        undecided=undecided, not_modelled=left,
    )  # fmt: skip


def _bits(known: Sequence[str]) -> dict[str, int]:
    """Returns for each name the bit of its policy; several bits where a loop and a timer have one name."""
    bits: dict[str, int] = {}
    for number, name in enumerate(known):
        bits[name] = bits.get(name, 0) | 1 << number
    return bits


def _named(known: Sequence[str], bits: Mapping[str, int], findings: Iterable[Finding]) -> dict[Verdict, Masks]:
    """Returns for each verdict and policy the policies that a finding of the verdict names beside it."""
    by_name: dict[Verdict, dict[str, int]] = {verdict: {} for verdict in ORDER}
    for finding in findings:
        members, masks = {name for name in finding.of if name in bits}, by_name[finding.verdict]
        every = reduce(or_, (bits[name] for name in members), 0) if len(members) > 1 else 0
        for name in members if every else ():
            masks[name] = masks.get(name, 0) | every & ~bits[name]
    return {
        verdict: {number: masks[name] for number, name in enumerate(known) if name in masks}
        for verdict, masks in by_name.items()
    }


def _shared(known: Sequence[str], things: Mapping[str, frozenset[str]]) -> Masks:
    """Returns for each policy the policies that share a thing with it."""
    users: dict[str, int] = {}
    for number, name in enumerate(known):
        for thing in things[name]:
            users[thing] = users.get(thing, 0) | 1 << number
    return {number: reduce(or_, (users[thing] for thing in things[name]), 0) for number, name in enumerate(known)}


def _count(masks: Masks, without: Masks) -> int:
    """Returns the number of pairs in `masks`, without those in `without` and each policy with itself."""
    bits = sum((mask & ~without.get(number, 0) & ~(1 << number)).bit_count() for number, mask in masks.items())
    return bits // 2


def things_of(design: Design, name: str) -> frozenset[str]:
    """Returns the things that a policy reads or writes: the words before the dots."""
    return things_of_all(design).get(name, frozenset())


def things_of_all(design: Design) -> Mapping[str, frozenset[str]]:
    """Returns the things that each policy reads or writes, computed once for each design."""
    return design.queries.get(things_of_all, lambda: _things_of_all(design))


def _things_of_all(design: Design) -> dict[str, frozenset[str]]:
    by_policy: dict[str, frozenset[str]] = {}
    for name, things in _policies_with_words(design):
        by_policy[name] = by_policy[name] | things if name in by_policy else things
    bare = names.bare_names(design)
    replaced = {"always", *bare}
    return {
        name: things if things.isdisjoint(replaced) else frozenset(_whole(things, bare))
        for name, things in by_policy.items()
    }


def _policies_with_words(design: Design) -> Iterator[tuple[str, frozenset[str]]]:
    yield from ((loop.name, _cached_words(loop, _of_loop)) for loop in design.loops.values())
    yield from ((call.name, _cached_words(call, _of_call)) for call in design.calls)
    yield from ((timer.name, _cached_words(timer, _of_timer)) for timer in design.timers.values())
    yield from ((limit.name, _cached_words(limit, _of_limit)) for limit in design.limits.values())


def _cached_words(policy: P, words: Callable[[P], Iterable[str]]) -> frozenset[str]:
    """Returns the words of a policy, cached on it: after an edit the others need not be walked again."""
    return policy.queries.get(words, lambda: frozenset(words(policy)))


def _whole(things: Iterable[str], bare: Mapping[str, str]) -> Iterator[str]:
    return (bare[thing].split(".")[0] if thing in bare else thing for thing in things if thing != "always")


def _of_loop(loop: Loop) -> Iterator[str]:
    for formula in names.loop_formulas(loop):
        yield from _heads(formula)
    if loop.actuation:
        yield from (word.text.split(".")[0] for word in (loop.actuation.signal, loop.actuation.evict) if word)


def _of_call(call: Call) -> Iterator[str]:
    return (end.text for end in (call.caller, call.callee) if end)


def _of_timer(timer: Timer) -> Iterator[str]:
    events = (timer.start, timer.unless, timer.then)
    return (event.thing if event.kind != "outside" else event.text for event in events if event is not None)


def _of_limit(limit: Limit) -> Iterator[str]:
    return _heads(limit.counts) if limit.counts is not None else iter(())


def _heads(formula: Formula) -> Iterator[str]:
    return (path.split(".")[0] for path in used(formula.tree))
