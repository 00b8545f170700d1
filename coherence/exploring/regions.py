"""Finds the boxes of values of one to three numbers of a design in which nothing is in conflict.

A range `a .. b` in a design is one unknown constant, and an answer about it holds for every value of it: so asking the
design with ranges asks about a whole box.  `safe`: each question that finds a conflict for some values, or proves
something at a corner, proves it for the box, some proof is about the policies that the numbers belong to, and nothing
about them is undecided.  `candidate`: no conflict is found and nothing is undecided, but one of these questions is
silent.  `unsafe`: a conflict that is certain, whatever the values in the box.  What is none of these is cut in two
where it is longest, until a number of asks is spent; that rest is `undecided`.  Every corner of a safe or unsafe box is
asked by itself as well.
Conflicts that these numbers do not touch (the same words at every corner and of the whole) are named apart, and so is
what is undecided of the whole and at each corner (`left_open`).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from coherence.base.errors import UsageError
from coherence.base.jobs import HERE, WorkerPool
from coherence.base.watchdog import STOPPED
from coherence.checking.repair.rechecks import Key
from coherence.exploring.box_answers import Box, BoxAnswers, BoxJob, RegionAnswer, WordedConflict
from coherence.exploring.swept_numbers import Axis, axes
from coherence.findings.accounting import things_of_all
from coherence.findings.edited_designs import Rebuild
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule
from coherence.language.design import Design

MOST_ASKS = 400
FINE = Fraction(1, 500)  # of the whole: a rest smaller than this is not cut further
MOST_AXES = 3
AHEAD = 64  # boxes that other processes are asked about at once, of those that wait
NO_PROOF = ("no question answers anything about these numbers",)
STATUSES = ("safe", "candidate", "unsafe", "undecided")


@dataclass(frozen=True)
class RegionCell:
    """A box and what is known of it, one of STATUSES; `why` names the conflicts, or what is not proved or decided."""

    box: Box
    status: str
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Region:
    """All cells, which fill the whole; `untouched` are conflicts, `left_open` what is undecided whatever the values."""

    axes: tuple[Axis, ...]
    cells: tuple[RegionCell, ...]
    untouched: tuple[str, ...]
    left_open: tuple[str, ...]
    asks: int
    at_stake: frozenset[str] = frozenset()  # codes whose answer depends on the values
    at_risk: frozenset[Key] = frozenset()  # conflicts for some of the values
    open_keys: frozenset[Key] = frozenset()
    refused: str = ""  # why some values are no design
    stopped: bool = False  # by Ctrl-C: what was not asked by then is undecided

    def share(self, status: str) -> Fraction:
        """Returns the part of the whole with this status, between 0 and 1."""
        whole = tuple((min(axis.values), max(axis.values)) for axis in self.axes)
        part = sum((_size(cell.box, self.axes) for cell in self.cells if cell.status == status), Fraction(0))
        return part / _size(whole, self.axes)


@dataclass(frozen=True)
class CandidateDesign:
    """A design whose numbers are replaced by ranges, and every answer that was given."""

    answers: BoxAnswers
    axes: tuple[Axis, ...]
    owners: frozenset[str] = frozenset()  # the policies that the numbers belong to or that use what they belong to
    known: dict[Box, RegionAnswer] = field(default_factory=dict, compare=False)
    untouched: set[WordedConflict] = field(default_factory=set, compare=False)
    left_open: set[Key] = field(default_factory=set, compare=False)
    bar: Callable[[int], None] | None = field(default=None, compare=False)  # told how many answers were given

    def ask(self, box: Box) -> RegionAnswer:
        """Returns what holds for every value in the box."""
        if box not in self.known:
            self.known[box] = self.answers.get(box).without(self.untouched)
            if self.bar is not None:
                self.bar(len(self.known))
        return self.known[box]

    def own(self, keys: Iterable[Key]) -> frozenset[Key]:
        """Returns those that are about policies of the numbers."""
        return frozenset(key for key in keys if self.owners & set(key[1]))


def region(  # noqa: PLR0913  (who asks, and where it is kept, beside what is asked)
    parameters: Sequence[str], sources: Mapping[str, str], rebuild: Rebuild, modules: Sequence[QuestionModule], *,
    most_asks: int = MOST_ASKS, time_limit: float = 20.0, bar: Callable[[float], None] | None = None,
    workers: WorkerPool = HERE, file: Path | None = None,
) -> Region:  # fmt: skip
    """Returns the region of `KEY=A:B` parameters; `bar` hears the share that is done.  Raises UsageError.

    `workers`: who asks; `file`: where answers about boxes are kept, and taken from.
    """
    chosen = axes(parameters, sources)
    if len(chosen) > MOST_AXES:
        raise UsageError(f"{len(chosen)} keys: a region has at most {MOST_AXES}")
    subject = Subject(rebuild(sources), sources, time_limit)
    heard = None if bar is None else (lambda asked: bar(asked / most_asks))
    codes = tuple(module.questions[0].code for module in modules)
    job = BoxJob(
        chosen, codes, tuple(sorted(sources.items())), time_limit, subject, rebuild, subject.design.environment
    )
    design = CandidateDesign(BoxAnswers(job, workers, file), chosen, owners(subject.design, chosen), bar=heard)
    whole = tuple((min(axis.values), max(axis.values)) for axis in chosen)
    design.answers.fetch((whole, *_corners(whole)))
    first = [design.ask(box) for box in (whole, *_corners(whole))]
    design.untouched.update(frozenset.intersection(*(one.worded for one in first)))
    design.left_open.update(frozenset.intersection(*(one.undecided for one in first)))
    design.known.clear()
    cells = list(_cut(design, whole, most_asks))
    untouched, left = _all_named(k for k, _ in design.untouched), _all_named(design.left_open)
    stake, open_keys = (
        frozenset(code for code, _ in _at_stake(design, whole)),
        frozenset(design.left_open) - design.own(design.left_open),
    )
    refused = next((one.refused for one in design.known.values() if one.refused), "")
    merged = tuple(_merged(cells, chosen))
    stopped = any(cell.why == (STOPPED,) for cell in cells)
    asks = len(design.known)
    return Region(chosen, merged, untouched, left, asks, stake, _at_risk(design), open_keys, refused, stopped)


def owners(design: Design, chosen: Iterable[Axis]) -> frozenset[str]:
    """Returns the policies that these numbers belong to, or that use the thing that they belong to."""
    entries = [axis.key.split(".")[:2] for axis in chosen]
    named = {design.calls[int(name)].name if section == "calls" else name for section, name in entries}
    using = (policy for policy, things in things_of_all(design).items() if things & named)
    return frozenset(named).union(using)


def _at_risk(design: CandidateDesign) -> frozenset[Key]:
    return frozenset[Key]().union(*(one.certain | one.possible for one in design.known.values()))


def _at_stake(design: CandidateDesign, whole: Box) -> frozenset[Key]:
    """Returns what is not answered alike for all values: conflicts, and what is proved or undecided for some only."""
    of_whole, answers = design.ask(whole), list(design.known.values())
    conflicts = frozenset[Key]().union(*(one.certain | one.possible for one in answers))
    proved = frozenset[Key]().union(*(one.proved for one in answers)) - of_whole.proved
    return conflicts | proved | (frozenset[Key]().union(*(one.undecided for one in answers)) - design.left_open)


def _cut(design: CandidateDesign, whole: Box, most_asks: int) -> Iterator[RegionCell]:
    """Yields the boxes in the end: of the undecided ones the largest is cut first.  Ctrl-C ends the cutting."""
    size = _size(whole, design.axes)
    waiting = [(-size, whole)]
    for corner in _corners(whole):
        design.ask(corner)
    while waiting:
        large, box = heapq.heappop(waiting)
        try:
            _fetch_ahead(design, [box, *(other for _, other in waiting)])
            cell = _judged(design, box)
        except KeyboardInterrupt:
            yield from (RegionCell(rest, "undecided", (STOPPED,)) for rest in (box, *(rest for _, rest in waiting)))
            return
        halves = _halves(box, design.axes, whole) if _may_change(cell, design) else ()
        if not halves or len(design.known) >= most_asks or -large <= FINE * size / 4:
            yield cell
            continue
        for half in halves:
            heapq.heappush(waiting, (-_size(half, design.axes), half))


def _fetch_ahead(design: CandidateDesign, boxes: Sequence[Box]) -> None:
    """Asks others about the boxes that come next, all at once."""
    if design.answers.workers.elsewhere and not design.answers.knows(boxes[0]):
        design.answers.fetch(one for box in boxes[:AHEAD] for one in (box, *_corners(box)))


def _may_change(cell: RegionCell, design: CandidateDesign) -> bool:
    """Returns whether a part of the box may be answered otherwise: not where the same is open everywhere."""
    if cell.status == "undecided":
        everywhere = design.left_open | design.ask(cell.box).taken_back
        return not cell.why or not set(cell.why) <= set(_all_named(everywhere))
    return cell.status == "candidate" and cell.why != NO_PROOF


def _judged(design: CandidateDesign, box: Box) -> RegionCell:
    """Returns what is known of one box, with its corners."""
    answer, corners = design.ask(box), [design.ask(corner) for corner in _corners(box)]
    if answer.certain and all(one.conflict for one in corners):
        return RegionCell(box, "unsafe", _all_named(answer.certain))
    if len(corners) == 1 and answer.conflict:
        return RegionCell(box, "unsafe", _all_named(answer.possible) or (answer.refused,))
    conflicts = answer.possible.union(answer.certain, *(one.possible | one.certain for one in corners))
    if conflicts or answer.refused or any(one.refused for one in corners):
        return RegionCell(box, "undecided", _all_named(conflicts) or (answer.refused,))
    proved = frozenset[Key]().union(*(one.proved for one in corners))
    undecided = answer.undecided.union(*(one.undecided for one in corners))
    lost = (undecided - design.left_open) | answer.unproved(proved) | design.own(undecided)
    if lost:
        return RegionCell(box, "undecided", _all_named(lost))
    silent = answer.unproved(_at_risk(design))
    if silent or not design.own(answer.proved):
        return RegionCell(box, "candidate", _all_named(silent) or NO_PROOF)
    return RegionCell(box, "safe")


def _corners(box: Box) -> Iterator[Box]:
    for point in itertools.product(*(dict.fromkeys(ends) for ends in box)):
        yield tuple((number, number) for number in point)


def _halves(box: Box, chosen: Sequence[Axis], whole: Box) -> tuple[Box, ...]:
    """Returns the box cut across its relatively longest side; nothing where it is one point."""
    sides = [(high - low) / (w[1] - w[0]) for (low, high), w in zip(box, whole, strict=True)]
    index = max(range(len(sides)), key=lambda i: (sides[i], -i))
    low, high = box[index]
    if low == high:
        return ()
    if is_whole(chosen[index]):
        middle = (low + high) // 2
        ends = ((low, Fraction(middle)), (Fraction(middle + 1), high))
    else:
        ends = ((low, (low + high) / 2), ((low + high) / 2, high))
    return tuple((*box[:index], end, *box[index + 1 :]) for end in ends)


def is_whole(axis: Axis) -> bool:
    """Returns whether the key counts: a whole number between whole ends, without a unit."""
    stated = axis.scalar.number()
    return stated is not None and all(n.denominator == 1 for n in (stated, min(axis.values), max(axis.values)))


def _size(box: Box, chosen: Sequence[Axis]) -> Fraction:
    size = Fraction(1)
    for (low, high), axis in zip(box, chosen, strict=True):
        size *= high - low + is_whole(axis)
    return size


def _named(key: Key) -> str:
    code, of = key
    return f"{code} of {', '.join(of)}"


def _all_named(keys: Iterable[Key]) -> tuple[str, ...]:
    return tuple(sorted(map(_named, set(keys))))


def _merged(cells: Sequence[RegionCell], chosen: Sequence[Axis]) -> Iterator[RegionCell]:
    """Neighbours of one status whose union is a box, as one; each part of a safe box is safe."""
    merged = sorted(cells, key=lambda cell: (cell.status, cell.box))
    merging = True
    while merging:
        merging = False
        for first, second in itertools.combinations(merged, 2):
            union = _union(first, second, chosen)
            if union is not None:
                merged = [cell for cell in merged if cell not in (first, second)] + [union]
                merging = True
                break
    rank = {status: number for number, status in enumerate(STATUSES)}
    yield from sorted(merged, key=lambda cell: (rank[cell.status], cell.box))


def _union(cell: RegionCell, other: RegionCell, chosen: Sequence[Axis]) -> RegionCell | None:
    """Returns one cell instead of two that share a whole side, or follow each other where the key counts."""
    if cell.status != other.status or cell.why != other.why:
        return None
    differ = [index for index, (a, b) in enumerate(zip(cell.box, other.box, strict=True)) if a != b]
    if len(differ) != 1:
        return None
    (index,) = differ
    (low, high), (from_, to) = sorted((cell.box[index], other.box[index]))
    if from_ != high + is_whole(chosen[index]):
        return None
    return RegionCell((*cell.box[:index], (low, to), *cell.box[index + 1 :]), cell.status, cell.why)
