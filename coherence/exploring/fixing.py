"""Finds the smallest change of a whole design that removes every conflict for which a repair holds.

The candidates are the repairs that the findings carry, each already re-checked.  One may remove several conflicts, and
two may turn the same number.  Sets of candidates are tried from the lightest on; the first after which all these
conflicts are gone and no finding is new is taken, without the edits that it does not need.  Rounds follow until one
changes nothing, so that a second run has nothing to do.

The weight of an edit is its relative change (4 tries to 3: a quarter); of what is inserted or renamed, 1.  A count
that becomes 1 or 0 turns its policy off, and weighs 1 more.  A timer that runs from another event watches something
else, perhaps nothing (from the event that ends it), and weighs more than most changes of numbers.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base import units
from coherence.base.errors import InternalError
from coherence.base.places import Place
from coherence.checking.design_check import ask_all
from coherence.checking.repair.rechecks import Key, Rebuild, RecheckContext, gone, key_of, with_repairs, worse
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules

ANOTHER_EVENT = Fraction(10)
MOST_SETS = 4000  # looked at, by weight alone
MOST_TRIED = 16  # asked again as a whole
Wanted = Callable[[Mapping[str, str], Sequence[Finding]], Sequence[Finding]]
Candidate = tuple[Fraction, Repair, frozenset[Key]]  # weight, edits, the conflicts after which they are gone


@dataclass(frozen=True)
class Fix:
    """The rounds of edits, the texts after them, what they removed, and the conflicts that are left."""

    rounds: tuple[tuple[Edit, ...], ...]
    sources: Mapping[str, str]
    removed: tuple[Finding, ...]
    left: tuple[Finding, ...]


def fix(sources: Mapping[str, str], rebuild: Rebuild, wanted: Wanted, *, time_limit: float = 20.0) -> Fix:
    """Repairs a design, of which `wanted` gives the conflicts to be removed.  Every question is asked again.

    Raises InputError where the texts are no design.
    """
    rounds: list[tuple[Edit, ...]] = []
    removed: list[Finding] = []
    while True:
        context = _ask(sources, rebuild, time_limit)
        conflicts = [f for f in wanted(sources, with_repairs(context, thorough=True)) if f.verdict is Verdict.CONFLICT]
        edits = _smallest([f for f in conflicts if f.repairs], context)
        edited = repairs.apply(edits, sources) if edits else None
        if edited is None:
            return Fix(tuple(rounds), sources, tuple(removed), tuple(conflicts))
        after = context.again(edits, context.modules) or []
        removed += [f for f in conflicts if gone(f, after)]
        rounds.append(edits)
        sources = edited


def _ask(sources: Mapping[str, str], rebuild: Rebuild, time_limit: float) -> RecheckContext:
    subject, every = Subject(rebuild(sources), sources, time_limit), question_modules()
    return RecheckContext(subject, rebuild, every, ask_all(subject, every), ask_all)


def _smallest(targets: Sequence[Finding], context: RecheckContext) -> tuple[Edit, ...]:
    """Returns the lightest edits found after which all targets are gone, else as many as go together."""
    if not targets:
        return ()
    candidates = _candidates(targets, context)
    for chosen in itertools.islice(_covers(targets, candidates), MOST_TRIED):
        edits = combined([repair for _, repair, _ in chosen])
        if edits and _good(edits, targets, context):
            return _needed(edits, targets, context)
    return _one_by_one(targets, candidates, context)


def _candidates(targets: Sequence[Finding], context: RecheckContext) -> list[Candidate]:
    """Returns every repair of every target, lightest first, with all targets that it removes alone."""
    harmless = []
    for repair in dict.fromkeys(Repair(r.edits, "") for f in targets for r in f.repairs):
        after = context.again(repair.edits, context.modules)
        if after is not None and not worse(context.findings, after):
            harmless.append((weight(repair.edits), repair, frozenset(key_of(f) for f in targets if gone(f, after))))
    return sorted(harmless, key=lambda candidate: (candidate[0], [(e.place, e.new) for e in candidate[1].edits]))


def _covers(targets: Sequence[Finding], candidates: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    """Sets of candidates that remove every target each by one of them, from the lightest on."""
    keys = [key_of(f) for f in targets]
    open_sets: list[tuple[Fraction, tuple[int, ...]]] = [(Fraction(0), ())]
    seen: set[tuple[int, ...]] = {()}
    for _ in range(MOST_SETS):
        if not open_sets:
            return
        _, picked = heapq.heappop(open_sets)
        covered = frozenset[Key]().union(*(candidates[i][2] for i in picked))
        first = next((key for key in keys if key not in covered), None)
        if first is None:
            yield [candidates[i] for i in picked]
            continue
        for i, candidate in enumerate(candidates):
            more = tuple(sorted({*picked, i}))
            edits = combined([candidates[k][1] for k in more]) if first in candidate[2] and more not in seen else None
            if edits is not None:
                seen.add(more)
                heapq.heappush(open_sets, (weight(edits), more))


def _good(edits: tuple[Edit, ...], targets: Iterable[Finding], context: RecheckContext) -> bool:
    """Returns whether all targets are gone after the edits, and nothing is new."""
    after = context.again(edits, context.modules)
    return after is not None and all(gone(f, after) for f in targets) and not worse(context.findings, after)


def _needed(edits: tuple[Edit, ...], targets: Sequence[Finding], context: RecheckContext) -> tuple[Edit, ...]:
    """Returns the edits without each that the others make superfluous, heaviest first."""
    for edit in sorted(edits, key=lambda e: (-weight([e]), e.place)):
        fewer = tuple(one for one in edits if one != edit)
        if fewer and _good(fewer, targets, context):
            edits = fewer
    return edits


def _one_by_one(
    targets: Sequence[Finding], candidates: Sequence[Candidate], context: RecheckContext
) -> tuple[Edit, ...]:
    """Returns the edits of repairs added one by one as long as they go together; other targets are left."""
    edits: tuple[Edit, ...] = ()
    done: list[Finding] = []
    for target in targets:
        for _, repair, removes in candidates:
            more = combined([Repair(edits, ""), repair]) if key_of(target) in removes else None
            if more and _good(more, [*done, target], context):
                edits = more
                done.append(target)
                break
    return edits


def combined(chosen: Iterable[Repair]) -> tuple[Edit, ...] | None:
    """Returns all edits at once; of two that move one number the same way the farther; None where they do not fit."""
    by_place: dict[Place, Edit] = {}
    for edit in (edit for repair in chosen for edit in repair.edits):
        other = by_place.get(edit.place)
        farther = edit if other is None or other == edit else _farther(other, edit)
        if farther is None:
            return None
        by_place[edit.place] = farther
    return tuple(by_place[place] for place in sorted(by_place))


def _farther(edit: Edit, other: Edit) -> Edit | None:
    old, first, second = (_number(text) for text in (edit.old, edit.new, other.new))
    if old is None or first is None or second is None or (first - old) * (second - old) <= 0:
        return None
    return edit if abs(first - old) >= abs(second - old) else other


def weight(edits: Iterable[Edit]) -> Fraction:
    """Returns the sum of the relative changes."""
    return sum((_weight(edit) for edit in edits), Fraction(0))


def _weight(edit: Edit) -> Fraction:
    old, new = _number(edit.old), _number(edit.new)
    if all(text.endswith((" starts", " ends")) for text in (edit.old, edit.new)):
        return ANOTHER_EVENT
    if not old or new is None:
        return Fraction(1)
    off = new <= 1 < old and edit.new.isdecimal()
    return abs(new - old) / abs(old) + off


def _number(text: str) -> Fraction | None:
    """Returns the number that a text says, in SI; also as Go and Kubernetes write it."""
    plain = text.strip("'\"")
    try:
        return units.quantity(plain)[0]
    except units.UnitError:
        pass
    try:
        return units.go_duration(plain)
    except units.UnitError:
        pass
    digits = plain.rstrip("KMGTPEikmnu")
    return Fraction(digits) if digits.replace(".", "", 1).isdecimal() else None


def raw(fixed: Fix, texts: Mapping[str, str]) -> dict[str, str]:
    """Returns the same edits in texts that may end their lines otherwise (as they stand in the files)."""
    edited_texts = dict(texts)
    for edits in fixed.rounds:
        edited = repairs.apply(edits, edited_texts)
        if edited is None:
            raise InternalError("an edit that was proved does not fit the file")
        edited_texts = edited
    return edited_texts
