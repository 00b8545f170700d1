"""Analyzes the loops of a design, or a network of blocks, from Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from coherence.base.watchdog import STOPPED, WHOLE, TimeOverError, current_run, run_limit
from coherence.checking.workspace import Entry
from coherence.door.result import VerbResult, drawn_of, head, listed
from coherence.door.sources import Source, entry_of, name_of
from coherence.findings.finding import Finding, NotRead
from coherence.findings.question_input import Subject
from coherence.loops.analysis.design_analysis import DesignAnalysis, GroupAnalysis
from coherence.loops.analysis.network_analysis import NetworkAnalysis
from coherence.loops.analysis.retry_products import Amplified
from coherence.loops.analysis.retuning import Retuning
from coherence.loops.designs.disagreements import Disagreement
from coherence.loops.designs.predicted_cycles import CycleReading
from coherence.loops.interchange import loop_analysis
from coherence.loops.interchange.loop_analysis import LoopAnalysis
from coherence.loops.multirate.sampled_system import Multirate
from coherence.loops.networks.network import Network
from coherence.loops.pictures.analysis_figure import KINDS
from coherence.model.model import Model

if TYPE_CHECKING:
    from coherence.loops.designs.feedback_groups import Deadline

GROUPS, LEFT_FOR_CYCLES = 0.6, 0.2  # of the time limit: of the groups where others are retuned, and of limit cycles
LOADS, CYCLES = 0.2, 0.7  # of it for operating points of retries, and of what is left for the limit cycles themselves


@dataclass(frozen=True)
class DesignAnswers:
    """What `coherence analyze` says of a design beside the analysis of its groups."""

    loads: tuple[Finding, ...]
    calls: tuple[Amplified, ...]
    tunings: tuple[tuple[Retuning, ...], ...]
    cycles: tuple[CycleReading, ...]
    differing: tuple[Disagreement, ...]
    unread: tuple[NotRead, ...]


@dataclass(frozen=True, repr=False)
class AnalysisResult(LoopAnalysis, VerbResult):
    """The analysis of a design or a network: `verdict`, `verdicts` by group, `linearize(loop)` (python-control).

    `to_frame()` has a row for each operating point of a group (or each block of a network) with its margins.
    """

    analysis: DesignAnalysis | NetworkAnalysis = field(compare=False)
    name: str = field(compare=False)
    network: Network | Multirate | None = field(compare=False, default=None)
    model: Model | None = field(compare=False, default=None)
    beside: DesignAnswers | None = field(compare=False, default=None)
    columns: ClassVar[tuple[str, ...]] = ("group", "verdict", "point", "linear", "figure", "value")

    def to_dict(self) -> dict[str, Any]:
        """Returns what `coherence analyze --output json` prints."""
        return VerbResult.to_dict(self)

    def __repr__(self) -> str:
        return VerbResult.__repr__(self)

    @property
    def cycles(self) -> tuple[CycleReading, ...]:
        """Returns the limit cycles that are predicted, each beside the one that a run shows."""
        return self.beside.cycles if self.beside is not None else ()

    @property
    def blame(self) -> tuple[tuple[str, ...], ...]:
        """Returns, of each group or network that swings, the smallest sets of loops without which it does not."""
        return tuple(tuple(group) for group in _blamed(self.data))

    def plot(self, ax: Any = None, *, panel: int = 0, kinds: Sequence[str] = KINDS) -> Any:
        """Draws a panel (`panel` counts them) and returns the axes of matplotlib.

        kinds: as the option --draw of `coherence analyze` takes them.
        """
        from coherence.loops.pictures.analysis_figure import of_design, of_network, system_name

        named = system_name(self.name)
        if isinstance(self.analysis, DesignAnalysis):
            assert self.model is not None
            panels = of_design(named, self.analysis, self.model, self.cycles, seconds=20.0, kinds=tuple(kinds)).panels
        else:
            panels = of_network(named, self.analysis, seconds=20.0, decay=None, kinds=tuple(kinds)).panels
        return drawn_of(panels, panel, ax)

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        yield from _figures(self.name, self.verdicts, self.data)

    def _lines(self) -> Sequence[str]:
        groups = [f"{group}: {verdict}" for group, verdict in self.verdicts.items()]
        return (
            f"AnalysisResult of {self.name}: {self.verdict}",
            f"  {listed(groups, 'no loop in feedback')}",
            f"  to blame: {listed([' and '.join(names) for names in self.blame], 'nobody')}",
        )


def _blamed(data: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    yield from (part["blocks"] for part in data.get("to_blame", ()))
    yield from (part["smallest_set"]["loops"] for part in data.get("groups", ()) if part["smallest_set"])


def _figures(name: str, verdicts: Mapping[str, str], data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields every number of the document with its way as `figure`, a group after the other."""
    groups = data.get("groups")
    parts = [(name, data)] if groups is None else zip(verdicts, groups, strict=False)
    for group, part in parts:
        points = part.get("operating_points") if groups is not None else None
        for number, point in enumerate(points or [part]):
            for way, value in _numbers_in(point, ""):
                yield {
                    "group": group, "verdict": verdicts.get(group, ""), "point": number if points else None,
                    "linear": point.get("verdict"), "figure": way, "value": value,
                }  # fmt: skip


def _numbers_in(part: Any, way: str) -> Iterator[tuple[str, float]]:
    if isinstance(part, bool):
        return
    if isinstance(part, int | float):
        yield way, float(part)
    entries = part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ()
    for key, inner in entries:
        yield from _numbers_in(inner, f"{way}.{key}" if way else str(key))


def analyze(design: Source | Network | Multirate, *, time_limit: float = 30.0, retune: bool = False) -> AnalysisResult:
    """Returns the analysis of the loops of a design, or of a network: what settles, what swings, margins, blame.

    design: a Design, a path, a text or a mapping; a network file; or what `Network` and `network` return.
    time_limit: seconds of the processor for all of it, so that a busy machine changes no answer; what is not
    reached is undecided.
    retune: also search for settings that are safe.  Raises InputError.
    """
    if isinstance(design, Network | Multirate):
        return of_network(loop_analysis.analyze(design))
    if isinstance(design, str | Path) and loop_analysis.holds_network(design):
        return of_network(loop_analysis.analyze(design))
    return of_entry(entry_of(design), name_of(design), time_limit, retune=retune)


def of_network(analysis: LoopAnalysis) -> AnalysisResult:
    """Returns the result of an analyzed network."""
    data = {**head("analyze"), **analysis.to_dict(), "answers": []}
    return AnalysisResult(data, **{each.name: getattr(analysis, each.name) for each in fields(analysis)})


def of_entry(entry: Entry, name: str, time_limit: float, *, retune: bool) -> AnalysisResult:
    """Returns the analysis of a design, each part within its share of the time (s of the processor)."""
    from coherence.base.reads import answered, recorded
    from coherence.door import operating_points
    from coherence.door.unread import unread
    from coherence.loops.designs.feedback_groups import Deadline

    subject = Subject(entry.design, entry.sources, time_limit)
    with recorded() as reads, run_limit(WHOLE * time_limit):
        whole = Deadline(time_limit)
        loads = answered(lambda: operating_points.loads(replace(subject, time_limit=time_limit * LOADS)))
        analysis, calls, tunings = _analysed(entry, subject, whole, retune=retune)
        current_run().announce(1.0, "limit cycles")
        analysis, cycles, differing = _refereed(subject, analysis, whole)
    lines, analysis = unread("analyze", entry.design, reads), _with_parts(analysis, entry, reads)
    analysis = replace(analysis, groups=tuple(_standing(group, entry, reads) for group in analysis.groups))
    beside = DesignAnswers(loads, calls, tunings, cycles, differing, lines)
    return AnalysisResult(_document(name, analysis, beside), analysis, name, None, subject.model, beside)


def _document(name: str, analysis: DesignAnalysis, beside: DesignAnswers) -> dict[str, Any]:
    from coherence.door import operating_points
    from coherence.door.unread import unread_json
    from coherence.loops.analysis import render_json

    return {
        **head("analyze"),
        **render_json.as_json(name, analysis, beside.calls, list(beside.tunings)),
        "limit_cycles": [asdict(cycle) for cycle in beside.cycles],
        "disagreements": [asdict(each) for each in beside.differing],
        "operating_points_of_retries": operating_points.as_json(beside.loads),
        "not_read": unread_json(beside.unread),
    }


def _with_parts(analysis: DesignAnalysis, entry: Entry, reads: Any) -> DesignAnalysis:
    """Returns the analysis with what the parts leave out that it read."""
    from coherence.door.unread import left_out
    from coherence.language.entries.omissions import merged

    return replace(analysis, assumptions=merged(analysis.assumptions, left_out(entry.design, reads)))


def _standing(group: GroupAnalysis, entry: Entry, reads: Any) -> GroupAnalysis:
    """Returns the answer about a group; a proof that it settles is taken back where something unread may change it."""
    from coherence.findings.standing_proofs import overturning

    answer = group.answer
    if answer.verdict != "settles" or not answer.proved:
        return group
    influence = overturning(entry.design, group.group.names, frozenset(reads.all()))
    if influence is None:
        return group
    how = f"needs what {influence.path} changes, which is not read here; without it: settles, {answer.how}"
    return replace(group, answer=replace(answer, verdict="undecided", proved=False, how=how))


def _stopped(analysis: DesignAnalysis, unasked: str) -> DesignAnalysis:
    """Returns the analysis with what Ctrl-C kept from being asked."""
    assumptions = (*analysis.assumptions, f"{unasked} not asked: {STOPPED}")
    return replace(analysis, stopped=True, assumptions=assumptions)


def _refereed(
    subject: Subject, analysis: DesignAnalysis, whole: Deadline
) -> tuple[DesignAnalysis, tuple[CycleReading, ...], tuple[Disagreement, ...]]:
    """Returns the analysis with the predicted limit cycles, and which answers contradict each other."""
    from coherence.loops.analysis.second_opinions import disagreements
    from coherence.loops.designs.predicted_cycles import predicted_within

    cycles: tuple[CycleReading, ...] = ()
    differing: tuple[Disagreement, ...] = ()
    try:
        cycles = () if analysis.stopped else predicted_within(subject.model, max(whole.left, 0.0) * CYCLES)
        with whole.ending():
            differing = () if analysis.stopped else disagreements(analysis, cycles, whole)
    except TimeOverError:
        late = "answers were not laid beside each other: the time limit was reached"
        analysis = replace(analysis, assumptions=(*analysis.assumptions, late))
    except KeyboardInterrupt:
        cycles, differing, analysis = (), (), replace(analysis, stopped=True)
    known = _stopped(analysis, "limit cycles were") if analysis.stopped else analysis
    return known, cycles, differing


def _analysed(
    entry: Entry, subject: Subject, until: Deadline, *, retune: bool
) -> tuple[DesignAnalysis, tuple[Amplified, ...], tuple[tuple[Retuning, ...], ...]]:
    from coherence.base.reads import answered
    from coherence.loops.analysis.design_analysis import analysed
    from coherence.loops.analysis.retry_products import MOST_PATHS, amplified
    from coherence.loops.analysis.retuning import retuned

    bar = current_run().announce
    most = GROUPS if retune else 1 - LEFT_FOR_CYCLES
    seconds = max(until.left, 0.0)
    whole = until.share(1 - LEFT_FOR_CYCLES)
    analysis = analysed(subject.model, time_limit=seconds * most, bar=lambda share, name: bar(share * GROUPS, name))
    tunings: list[tuple[Retuning, ...]] = []
    try:
        for index, group in enumerate(analysis.groups if retune and not analysis.stopped else ()):
            bar(GROUPS + (1 - GROUPS) * index / len(analysis.groups), "retuning")
            own = whole.share(1 / (len(analysis.groups) - index))
            with own.ending():
                tunings.append(retuned(group, subject, entry.rebuild, own))
    except TimeOverError:
        cut = "other settings were sought for a part of the groups only: the time limit was reached"
        analysis = replace(analysis, assumptions=(*analysis.assumptions, cut))
    except KeyboardInterrupt:
        analysis = _stopped(analysis, "other settings were")
    tunings += [()] * (len(analysis.groups) - len(tunings))
    calls = answered(lambda: amplified(entry.design))
    if not calls.complete:
        cut = f"of the paths of calls the first {MOST_PATHS:,} are multiplied; others may send more"
        analysis = replace(analysis, assumptions=(*analysis.assumptions, cut))
    return analysis, calls.paths, tuple(tunings)
