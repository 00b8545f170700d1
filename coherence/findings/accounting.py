"""Counts every pair of policies once by what is known of it, and every promise by its answer.

A pair is in conflict or undecided where a finding that names both says so, and safe where a proof names both and no
answer about both is open.  Of what is left, a pair that shares a thing is not modelled: no question is about it; a pair
that shares nothing is unrelated.  Two policies share a thing where one uses what the other one's things depend on,
through formulas and calls, or where things of both run on one tier.

No pair is walked: each policy has one integer whose bits are the policies that it shares a thing with, and one for each
verdict that names both; a union is an `or` and a count is a population count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, TypeVar

from coherence.base import graphs
from coherence.base.reads import unnoted
from coherence.base.records import Record
from coherence.findings.finding import Accounting, Finding, Grade, Verdict
from coherence.findings.promise_answers import promise_answers
from coherence.language import names
from coherence.language.design import Call, Component, Design, Limit, Loop, Timer
from coherence.language.expressions import names as used
from coherence.language.schema_kinds import Formula, Word

# the worst of a pair counts
ORDER = (Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.VACUOUS, Verdict.NOTE, Verdict.PROVED)
SECTIONS_OF_POLICIES: tuple[Callable[[Design], Iterable[str]], ...] = (
    lambda design: design.loops,
    lambda design: (call.name for call in design.calls),
    lambda design: design.timers,
    lambda design: design.limits,
)
P = TypeVar("P", bound=Record)
Masks = dict[int, int]  # number of a policy -> bits of policies


def policies(design: Design) -> tuple[str, ...]:
    """Returns the names of all policies: loops, calls, timers and limits."""
    return tuple(name for section in _sections([design]) for name in section)


def _sections(designs: Sequence[Design]) -> list[tuple[str, ...]]:
    """Returns the loops, calls, timers and limits of some designs, each name once."""
    return [
        tuple(dict.fromkeys(name for design in designs for name in section(design))) for section in SECTIONS_OF_POLICIES
    ]


def account(design: Design, findings: Sequence[Finding]) -> Accounting:
    """Counts the policies, the pairs of them and the promises of a design by what the findings say of them."""
    return account_together([(design, findings)])


def account_together(answers: Sequence[tuple[Design, Sequence[Finding]]]) -> Accounting:
    """Counts each policy, pair and promise of a design once by the worst that is said of it in any environment."""
    designs = [design for design, _ in answers]
    sections = _sections(designs)
    known = tuple(name for section in sections for name in section)
    kinds = [_kinds(known, design, findings) for design, findings in answers]
    joined = [reduce(_united, masks) for masks in zip(*kinds, strict=True)]
    conflict, undecided, unmodelled, proved = map(_count, _disjoint(joined) if len(kinds) > 1 else joined)
    loops, calls, timers, limits = map(len, sections)
    promises = Counter(_worst_answers(answers).values())
    return Accounting(
        loops=loops, calls=calls, timers=timers, limits=limits,
        promises=len({name for design in designs for name in design.promises}),
        promises_conflict=promises[Verdict.CONFLICT], promises_proved=promises[Verdict.PROVED],
        promises_undecided=promises[Verdict.UNDECIDED], promises_vacuous=promises[Verdict.VACUOUS],
        conflict=conflict, safe=proved, undecided=undecided, not_modelled=unmodelled,
        unrelated=len(known) * (len(known) - 1) // 2 - conflict - proved - undecided - unmodelled,
        designs=1,
        unanswered=int(all(_answers_nothing(finding, design) for design, findings in answers for finding in findings)),
    )  # fmt: skip


def _answers_nothing(finding: Finding, design: Design) -> bool:
    """Decides whether a finding is a note, or a default promise that lacks a number."""
    written = any(name in design.promises for name in finding.of)
    return finding.verdict is Verdict.NOTE or (finding.lacks_number and not written)


def _kinds(known: Sequence[str], design: Design, findings: Sequence[Finding]) -> list[Masks]:
    """Returns the pairs in conflict, undecided, not modelled and proved of a design, none in two of them."""
    named = _named(known, _bits(known), findings)
    kinds = _disjoint([*(named[verdict] for verdict in ORDER), _shared(tuple(known), design)])
    conflict, undecided, vacuous, noted, proved, silent = kinds
    return [conflict, _united(undecided, vacuous), _united(noted, silent), proved]


def _worst_answers(answers: Sequence[tuple[Design, Sequence[Finding]]]) -> dict[str, Verdict]:
    """Returns the worst answer to each promise that has one in some environment."""
    worst: dict[str, Verdict] = {}
    for design, findings in answers:
        for name, finding in promise_answers(design, findings).items():
            verdict = _proof_or_open(finding)
            worst[name] = min(worst.get(name, verdict), verdict, key=ORDER.index)
    return worst


def _disjoint(kinds: Sequence[Masks]) -> list[Masks]:
    """Returns the masks, each without the pairs of those before it."""
    disjoint, before = list[Masks](), Masks()
    for masks in kinds:
        left = ((n, mask & ~before.get(n, 0) & ~(1 << n)) for n, mask in masks.items())
        disjoint.append({n: mask for n, mask in left if mask})
        before = _united(before, masks) if masks else before
    return disjoint


def _united(masks: Masks, others: Masks) -> Masks:
    return {number: masks.get(number, 0) | others.get(number, 0) for number in masks.keys() | others.keys()}


def _proof_or_open(finding: Finding) -> Verdict:
    """Returns the verdict; a `proved` whose evidence is weaker than a proof is undecided."""
    weak = finding.verdict is Verdict.PROVED and finding.evidence.grade is not Grade.PROVED
    return Verdict.UNDECIDED if weak else finding.verdict


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
        members = bits.keys() & finding.of if len(finding.of) > 1 else ()
        if len(members) > 1:
            masks, every = by_name[_proof_or_open(finding)], reduce(or_, map(bits.__getitem__, members))
            for name in members:
                masks[name] = masks.get(name, 0) | every & ~bits[name]
    return {
        verdict: {number: masks[name] for number, name in enumerate(known) if name in masks}
        for verdict, masks in by_name.items()
    }


def carry(previous: Design, edited: Design, touched: Iterable[tuple[str, str | int]]) -> None:
    """Takes over which policies share a thing from the design before an edit, where the entries have the same words.

    For designs that declare the same names and differ in the touched entries (section and key) alone.
    """
    for section, key in touched:
        words = _WORDS.get(section)
        old, new = getattr(previous, section)[key], getattr(edited, section)[key]
        if words is not None and (old.name, _cached_words(old, words)) != (new.name, _cached_words(new, words)):
            return
    if _hosts(previous) == _hosts(edited):
        for query in (things_of_all, (_shared, policies(edited))):
            edited.queries.carry(previous.queries, query)


def _shared(known: tuple[str, ...], design: Design) -> Masks:
    """Returns for each policy those that use a thing on which its things depend, or whose things depend on one of its
    own; computed once for each design.
    """
    return design.queries.get((_shared, known), lambda: _sharing(known, design))


def _sharing(known: Sequence[str], design: Design) -> Masks:
    hosts, own = _hosts(design), things_of_all(design)
    if hosts:
        own = {name: things.union(map(hosts.__getitem__, things & hosts.keys())) for name, things in own.items()}
    using: dict[str, int] = {}
    for number, name in enumerate(known):
        for thing in own.get(name, ()):
            using[thing] = using.get(thing, 0) | 1 << number
    near = dict.fromkeys(using, 0)  # thing -> policies that use what it depends on, or what depends on it
    for thing, behind in _reached(design, using).items():
        for other in behind & near.keys():
            near[thing] |= using[other]
            near[other] |= using[thing]
    masks: Masks = {}
    for number, name in enumerate(known):
        masks[number] = 0
        for thing in own.get(name, ()):
            masks[number] |= near[thing]
    return masks


@unnoted()
def _hosts(design: Design) -> dict[str, str]:
    """Returns for each component what it runs on, of which whoever acts on the component takes a share."""
    return {part.name: part.runs_on.text for part in design.components.values() if part.runs_on is not None}


def _reached(design: Design, things: Iterable[str]) -> dict[str, frozenset[str]]:
    """Returns for each thing itself and all things that it depends on."""
    behind = _dependencies(design)
    return {thing: frozenset(graphs.reached([thing], lambda node: behind.get(node, ()))) for thing in things}


def _dependencies(design: Design) -> dict[str, set[str]]:
    """Returns for each thing those that its formulas name and those that it calls."""
    bare = names.bare_names(design)
    components = design.components.items()
    behind = {name: set(_whole(_cached_words(component, _of_component), bare)) for name, component in components}
    for call in design.calls:
        if call.caller and call.callee:
            behind.setdefault(call.caller.text, set()).add(call.callee.text)
    return behind


def _count(masks: Masks) -> int:
    """Returns the number of pairs in symmetric masks."""
    return sum(mask.bit_count() for mask in masks.values()) // 2


def things_of_all(design: Design) -> Mapping[str, frozenset[str]]:
    """Returns the things that each policy reads or writes, computed once for each design."""
    return design.queries.get(things_of_all, lambda: _things_of_all(design))


@unnoted()
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
    yield from (word.split(".")[0] for word in (loop.written, loop.evicted) if word)


def _of_component(component: Component) -> Iterator[str]:
    formulas = (*names.component_formulas(component), component.copies, names.state_formula(component))
    for formula in formulas:
        yield from _heads(formula) if isinstance(formula, Formula) else ()
    words = (component.runs_on, *component.constants.values())
    yield from (word.text.split(".")[0] for word in words if isinstance(word, Word))


def _of_call(call: Call) -> Iterator[str]:
    return (end.text for end in (call.caller, call.callee) if end)


def _of_timer(timer: Timer) -> Iterator[str]:
    events = (timer.start, timer.unless, timer.then)
    return (event.thing if event.kind != "outside" else event.text for event in events if event is not None)


def _of_limit(limit: Limit) -> Iterator[str]:
    return _heads(limit.counts) if limit.counts is not None else iter(())


def _heads(formula: Formula) -> Iterator[str]:
    return (path.split(".")[0] for path in used(formula.tree))


_WORDS: Mapping[str, Callable[[Any], Iterable[str]]] = {
    "loops": _of_loop,
    "components": _of_component,
    "calls": _of_call,
    "timers": _of_timer,
    "limits": _of_limit,
}
