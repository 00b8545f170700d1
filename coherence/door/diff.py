"""Compares two designs, or a design in two of its environments, from Python: which answers change, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from coherence.base.errors import UsageError
from coherence.base.watchdog import WHOLE, run_limit
from coherence.door.check import codes
from coherence.door.result import VerbResult, counted, head, listed
from coherence.door.sources import Source, is_path, name_of, workspace_of
from coherence.exploring.verdict_changes import DesignChanges, VerdictChange, compared, verdicts

if TYPE_CHECKING:
    from pathlib import Path

    from coherence.checking.design_check import Options
    from coherence.checking.workspace import Entry
    from coherence.exploring.environment_sensitivity import EnvironmentRow
    from coherence.exploring.tail_changes import HopTail, TailChange
    from coherence.loops.analysis.loop_distances import LoopDistance

NONE = "no answer"


@dataclass(frozen=True)
class FloorChange:
    """A lower bound that differs: of which thing, and its ranges as text."""

    name: str
    thing: str
    before: str
    after: str


@dataclass(frozen=True, repr=False)
class DiffResult(VerbResult):
    """What differs between two designs; `to_frame()` has a row for each answer that changes.

    `verdicts`: each change with its `causes`, sets of changed values of which each alone makes it.  `loops`: the
    distance of each loop with what it certifies, in the order in which to migrate them.  `tails`: the predicted P99 of
    each hop that changes.  `sensitivity`: figures of the first design with one kind of values of the second at a time.
    """

    compared: DesignChanges = field(compare=False)
    floors: tuple[FloorChange, ...] = field(compare=False)
    loops: tuple[LoopDistance, ...] = field(compare=False, default=())
    tails: tuple[TailChange, ...] = field(compare=False, default=())
    sensitivity: tuple[EnvironmentRow, ...] = field(compare=False, default=())
    columns: ClassVar[tuple[str, ...]] = ("code", "of", "before", "after", "causes", "message")

    @property
    def verdicts(self) -> tuple[VerdictChange, ...]:
        """Returns the answers whose verdict changes."""
        return self.compared.verdicts

    @property
    def new_conflicts(self) -> tuple[VerdictChange, ...]:
        """Returns the changes of which the later design has a conflict and the earlier one has none."""
        return tuple(change for change in self.verdicts if change.is_new_conflict)

    @property
    def summary(self) -> str:
        """Returns how many verdicts changed, and how many did not."""
        changed, new = len(self.verdicts), len(self.new_conflicts)
        return f"{counted(changed, 'verdict')} changed ({new} to a conflict), {self.compared.alike} alike"

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        for row in self.data["verdicts"]:
            causes = " | ".join(" and ".join(cause) for cause in row["causes"]) or row["reason"]
            words = [finding["message"] for finding in row["findings"]["after"] or row["findings"]["before"]]
            yield {**row, "of": ", ".join(row["of"]), "causes": causes, "message": "; ".join(words)}

    def _lines(self) -> Sequence[str]:
        new = sorted({change.code for change in self.new_conflicts})
        return (
            f"DiffResult: {counted(len(self.verdicts), 'verdict')} changed, {self.compared.alike} alike",
            f"  {counted(len(self.compared.differences), 'value')} changed, {counted(len(self.floors), 'floor')}",
            f"  new conflicts: {listed(new, 'none')}",
        )


def diff(
    before: Source, after: Source | None = None, *, since: str = "", environments: Sequence[str] = (),
    select: str | Sequence[str] = (), ignore: str | Sequence[str] = (), time_limit: float = 60.0,
) -> DiffResult:  # fmt: skip
    """Returns what differs between two designs, or between two environments of one design.

    before, after: each a Design, a path, a text or a mapping; without `after` two environments of `before`.
    since: a commit; the design at the path `before` as it stood there is compared with that of today.
    environments: of one design the two that are compared (needed where it has more than two); of two designs the one
    that both are read in, or one for each.  select, ignore: beginnings of codes.
    time_limit: seconds of the processor; causes that are not found by then are not sought.
    Raises InputError, and UsageError where the two cannot be told.
    """
    from coherence.checking.design_check import Options
    from coherence.checking.repair.added_infrastructure import added_infrastructure

    chosen, left = codes(select), codes(ignore)
    with _compared(before, after, since, tuple(environments)) as ((first, old), (last, new)):
        options = Options(chosen, left, time_limit / WHOLE / 2, verify_repairs=False)
        with run_limit(time_limit):
            answers = compared(old, new, options)
            table = () if chosen else _sensitivity(old, new, options)
        loops = () if chosen else _loops(old, new, time_limit / 3)
        floors = () if chosen else tuple(_floors(old, new))
        tails = () if chosen else _tails(old, new)
        adds = added_infrastructure(old.design, new.design)
    more = {"tails": list(map(_tail, tails)), "sensitivity": [vars(row) for row in table], "adds": list(adds)}
    document = {**_document([first, last], answers, floors, loops), **more}
    return DiffResult(document, answers, floors, loops, tails, table)


Named: TypeAlias = tuple[str, "Entry"]


@contextmanager
def _compared(
    before: Source, after: Source | None, since: str, environments: tuple[str, ...]
) -> Iterator[tuple[Named, Named]]:
    """Yields the two designs with their names; the files of a commit are there as long."""
    if not since:
        sources = before, before if after is None else after
        old, new = _two(before, after, environments)
        yield (_name(old, name_of(sources[0])), old), (_name(new, name_of(sources[1])), new)
        return
    if after is not None or not is_path(before):
        raise UsageError("a commit goes with one path: the design there, as it stood and as it is")
    from coherence.checking.earlier_tree import earlier_design

    chosen = _few(environments)
    with earlier_design(since, str(before)) as stood:
        old, new = _at(stood.path, stood.root, chosen[0]), _at(str(before), None, chosen[1])
        yield (_name(old, f"{before} at {stood.commit}"), old), (_name(new, str(before)), new)


def _at(path: str, root: Path | None, environment: str) -> Entry:
    """Returns the design at a path in an environment."""
    from coherence.checking.workspace import open_workspace
    from coherence.language.environments.overlay import chosen_environment

    with chosen_environment(environment) if environment else nullcontext():
        return open_workspace([path], root=root).one_entry(path)


def _two(before: Source, after: Source | None, environments: tuple[str, ...]) -> tuple[Entry, Entry]:
    if after is None:
        entries = workspace_of(before).entries
        names = environments or tuple(entry.design.environment for entry in entries)
        if len(names) != 2 or not all(names):
            words = "name a second design, or two of its environments (`--in A --in B`), or a commit (`--since`)"
            raise UsageError(f"{name_of(before)}: {words}")
        return _of(before, names[0]), _of(before, names[1])
    first, last = _few(environments)
    return _of(before, first), _of(after, last)


def _few(environments: tuple[str, ...]) -> tuple[str, str]:
    """Returns the environment of each of two designs."""
    if len(environments) > 2:
        raise UsageError("two designs are in two environments at most")
    return (environments[0], environments[-1]) if environments else ("", "")


def _of(source: Source, environment: str) -> Entry:
    """Returns the design of a source in an environment; without a name it has to be one alone."""
    from coherence.door.sources import entry_of, read

    return entry_of(read(source, environment=environment)) if environment else entry_of(source)


def _name(entry: Entry, source: str) -> str:
    return " in ".join(filter(None, (source, entry.design.environment)))


def _loops(before: Entry, after: Entry, seconds: float) -> tuple[LoopDistance, ...]:
    """Returns how far the loops are apart; none where no loop is in both."""
    if not set(before.design.loops) & set(after.design.loops):
        return ()
    from coherence.loops.analysis.loop_distances import loop_distances
    from coherence.model.elaborate import model_of

    return loop_distances(model_of(before.design), model_of(after.design), seconds)


def _sensitivity(before: Entry, after: Entry, options: Options) -> tuple[EnvironmentRow, ...]:
    from coherence.exploring.environment_sensitivity import sensitivity

    return sensitivity(before, after, options)


def _tails(before: Entry, after: Entry) -> tuple[TailChange, ...]:
    from coherence.exploring.tail_changes import tail_changes

    return tail_changes(before.design, after.design)


def _tail(row: TailChange) -> dict[str, Any]:
    """Returns a change of a tail for programs; null for a time without end."""

    def side(tail: HopTail | None) -> dict[str, float | None] | None:
        return None if tail is None else {"load": tail.load, "p99": tail.p99 if isfinite(tail.p99) else None}

    ratio = row.ratio if isfinite(row.ratio) else None
    return {"hop": row.hop, "before": side(row.before), "after": side(row.after), "ratio": ratio}


def _floors(before: Entry, after: Entry) -> Iterator[FloorChange]:
    """Yields the lower bounds that differ."""
    old, new = _ranges(before), _ranges(after)
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key):
            yield FloorChange(*key, old.get(key, NONE), new.get(key, NONE))


def _ranges(entry: Entry) -> dict[tuple[str, str], str]:
    from coherence.minimums.design_floors import design_floors
    from coherence.minimums.loop_floors import loop_floors
    from coherence.minimums.report import range_of
    from coherence.model.elaborate import model_of

    floors = (*design_floors(entry.design), *loop_floors(model_of(entry.design)))
    return {(f.bound.name, f.application.thing): range_of(f.floor) for f in floors if f.floor is not None}


def _document(
    names: Sequence[str], answers: DesignChanges, floors: Sequence[FloorChange], loops: Sequence[LoopDistance]
) -> dict[str, Any]:
    return {
        **head("diff"),
        "before": names[0],
        "after": names[1],
        "values": [
            {"path": one.name, "text": str(one), "file": one.place.file, "line": one.place.line}
            for one in answers.differences
        ],
        "verdicts": [_change(change) for change in answers.verdicts],
        "figures": [_change(change) for change in answers.figures],
        "alike": answers.alike,
        "floors": [vars(floor) for floor in floors],
        "loops": [_loop(row) for row in loops],
    }


def _loop(row: LoopDistance) -> dict[str, Any]:
    gap = row.gap
    figures = {"distance": gap.bound, "margin": gap.margin, "margin_left": gap.margin_left} if gap else {}
    return {"loop": row.loop, "certified": gap is not None and gap.certified, **figures, "reason": row.reason}


def _change(change: VerdictChange) -> dict[str, Any]:
    sides = {"before": change.before, "after": change.after}
    return {
        "code": change.code,
        "of": list(change.of),
        **{side: ", ".join(verdicts(findings)) or NONE for side, findings in sides.items()},
        "causes": [[str(one) for one in cause] for cause in change.causes],
        "reason": change.reason,
        "findings": {
            side: [{"message": one.message, "grade": str(one.evidence.grade)} for one in findings]
            for side, findings in sides.items()
        },
    }
