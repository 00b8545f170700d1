"""Finds the smallest change of a whole design after which every conflict with a repair is proved not to happen.

The options are the repairs that the findings carry, each already re-checked; what is only a candidate is never taken.
One repair may remove several conflicts, and two may turn the same number.  Sets of repairs are tried from the lightest
on; the first after which the question of each of these conflicts answers `proved`, and no finding is new, is taken,
without the edits that it does not need.  Rounds follow until one changes nothing, so that a second run has nothing to
do.

The weight of an edit is its relative change (4 tries to 3: a quarter); of what is inserted or renamed, 1.  A count
that becomes 1 or 0 turns its policy off, and weighs 1 more.  A timer that runs from another event watches something
else, and weighs more than most changes of numbers; so does a repair after which a policy no longer does what it is for.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base import units
from coherence.base.errors import CoherenceError, InternalError
from coherence.base.places import Place
from coherence.base.watchdog import WHOLE, RunLimit, run_limit
from coherence.checking.repair.rechecks import Key, RecheckContext, key_of, still_found, with_repairs, worse
from coherence.checking.weighing import absences_weighed, ask_weighed
from coherence.findings import repairs
from coherence.findings.edited_designs import Rebuild
from coherence.findings.finding import Edit, Finding, Repair, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.design import Design

ANOTHER_EVENT = ANOTHER_PURPOSE = Fraction(10)
MOST_SETS = 4000  # looked at, by weight alone
MOST_TRIED = 16  # asked again as a whole
Wanted = Callable[[Mapping[str, str], Sequence[Finding]], Sequence[Finding]]


@dataclass(frozen=True)
class RepairOption:
    """A repair with its weight, that of the purposes that it costs, and the conflicts that are disproved after it."""

    weight: Fraction
    purposes: Fraction
    repair: Repair
    removes: frozenset[Key]


@dataclass(frozen=True)
class Fix:
    """The rounds of edits, the texts after them, the conflicts that they removed and those that are left.

    `removed`: proved not to happen; `silent`: no longer found after edits for other conflicts, and not proved;
    `cut_short`: the time was over before every change was tried.
    """

    rounds: tuple[tuple[Edit, ...], ...]
    sources: Mapping[str, str]
    removed: tuple[Finding, ...]
    left: tuple[Finding, ...]
    silent: tuple[Finding, ...] = ()
    cut_short: bool = False


def fix(sources: Mapping[str, str], rebuild: Rebuild, wanted: Wanted, *, time_limit: float = 20.0) -> Fix:
    """Repairs a design, of which `wanted` gives the conflicts to be removed.  Every question is asked again.

    Raises InputError where the texts are no design.
    """
    with run_limit(WHOLE * time_limit) as run:
        return _fixed(sources, _until_the_end(rebuild, run), wanted, time_limit, run)


def _until_the_end(rebuild: Rebuild, run: RunLimit) -> Rebuild:
    """Returns what reads a changed design as long as the run has time."""

    def again(texts: Mapping[str, str]) -> Design:
        if not run.left:
            raise CoherenceError("the time for repairs is over")
        return rebuild(texts)

    return again


def _fixed(sources: Mapping[str, str], rebuild: Rebuild, wanted: Wanted, time_limit: float, run: RunLimit) -> Fix:
    done = Fix((), sources, (), ())
    while True:
        context = _ask(done.sources, rebuild, time_limit)
        conflicts = [
            f for f in wanted(done.sources, with_repairs(context, thorough=True)) if f.verdict is Verdict.CONFLICT
        ]
        conflicts = [replace(f, repairs=tuple(r for r in f.repairs if not r.concedes)) for f in conflicts]
        edits = _smallest([f for f in conflicts if any(repair.proved for repair in f.repairs)], context)
        edited = repairs.apply(edits, done.sources) if edits else None
        after = (context.again(edits, context.modules) or []) if edited is not None else []
        proved = [f for f in conflicts if context.disproved(f, edits, context.modules)] if edited is not None else []
        if edited is None or not run.left:  # what was asked after the end is no answer about the edits
            return replace(done, left=tuple(conflicts), cut_short=not run.left)
        silent = [f for f in conflicts if f not in proved and not still_found(f, after)]
        done = Fix((*done.rounds, edits), edited, (*done.removed, *proved), (), (*done.silent, *silent))


def _ask(sources: Mapping[str, str], rebuild: Rebuild, time_limit: float) -> RecheckContext:
    subject, every = Subject(rebuild(sources), sources, time_limit), question_modules()
    return RecheckContext(subject, rebuild, every, ask_weighed(subject, every), ask_weighed, absences_weighed)


def _smallest(targets: Sequence[Finding], context: RecheckContext) -> tuple[Edit, ...]:
    """Returns the lightest edits found after which all targets are disproved, else as many as go together."""
    if not targets:
        return ()
    options = _options(targets, context)
    for chosen in itertools.islice(_covers(targets, options), MOST_TRIED):
        edits = combined([option.repair for option in chosen])
        if edits and _good(edits, targets, context):
            return _needed(edits, targets, context)
    return _one_by_one(targets, options, context)


def _options(targets: Sequence[Finding], context: RecheckContext) -> list[RepairOption]:
    """Returns every repair of every target, lightest first, with all targets that it removes alone."""
    harmless = []
    for repair in dict.fromkeys(Repair(r.edits, "") for f in targets for r in f.repairs):
        after = context.again(repair.edits, context.modules)
        if after is not None and not worse(context.findings, after):
            purposes = ANOTHER_PURPOSE * context.purposes_lost(repair.edits)
            removes = frozenset(key_of(f) for f in targets if context.disproved(f, repair.edits, context.modules))
            harmless.append(RepairOption(weight(repair.edits) + purposes, purposes, repair, removes))
    return sorted(harmless, key=lambda option: (option.weight, [(e.place, e.new) for e in option.repair.edits]))


def _covers(targets: Sequence[Finding], options: Sequence[RepairOption]) -> Iterator[list[RepairOption]]:
    """Yields sets of repairs that remove every target each by one of them, from the lightest on."""
    keys = [key_of(f) for f in targets]
    open_sets: list[tuple[Fraction, tuple[int, ...]]] = [(Fraction(0), ())]
    seen: set[tuple[int, ...]] = {()}
    for _ in range(MOST_SETS):
        if not open_sets:
            return
        _, picked = heapq.heappop(open_sets)
        covered = frozenset[Key]().union(*(options[i].removes for i in picked))
        first = next((key for key in keys if key not in covered), None)
        if first is None:
            yield [options[i] for i in picked]
            continue
        for i, option in enumerate(options):
            more = tuple(sorted({*picked, i}))
            edits = (
                combined([options[k].repair for k in more]) if first in option.removes and more not in seen else None
            )
            if edits is not None:
                seen.add(more)
                lost = sum((options[k].purposes for k in more), Fraction(0))
                heapq.heappush(open_sets, (weight(edits) + lost, more))


def _good(edits: tuple[Edit, ...], targets: Iterable[Finding], context: RecheckContext) -> bool:
    """Returns whether all targets are disproved after the edits, and nothing is new."""
    after = context.again(edits, context.modules)
    return (
        after is not None
        and not worse(context.findings, after)
        and all(context.disproved(f, edits, context.modules) for f in targets)
    )


def _needed(edits: tuple[Edit, ...], targets: Sequence[Finding], context: RecheckContext) -> tuple[Edit, ...]:
    """Returns the edits without each that the others make superfluous, heaviest first."""
    for edit in sorted(edits, key=lambda e: (-weight([e]), e.place)):
        fewer = tuple(one for one in edits if one != edit)
        if fewer and _good(fewer, targets, context):
            edits = fewer
    return edits


def _one_by_one(
    targets: Sequence[Finding], options: Sequence[RepairOption], context: RecheckContext
) -> tuple[Edit, ...]:  # fmt: skip
    """Returns the repairs that go together, added one by one: what cannot be repaired with the others is left."""
    edits: tuple[Edit, ...] = ()
    done: list[Finding] = []
    for target in targets:
        for option in options:
            more = combined([Repair(edits, ""), option.repair]) if key_of(target) in option.removes else None
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
