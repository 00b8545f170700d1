"""Gathers what all engines answer about one design, for one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from coherence.assessment.parts.runs import NOT_RUN, RunAnswers, run_answers
from coherence.assessment.parts.stability_maps import NO_MAP, AssessedMap, stability_map
from coherence.checking.policy_rows import policy_rows
from coherence.findings.finding import Finding, Grade, NotRead, Report, Severity, Verdict

if TYPE_CHECKING:
    from coherence.causal.answers.answer import Section
    from coherence.checking.reports import Answering
    from coherence.checking.workspace import Workspace
    from coherence.language.design import Design
    from coherence.loops.analysis.design_analysis import DesignAnalysis
    from coherence.loops.analysis.retry_products import Amplified
    from coherence.minimums.design_floors import DesignFloor
    from coherence.reporting.pictures.figure import Figure

ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)
VERDICTS = (Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.VACUOUS, Verdict.PROVED, Verdict.NOTE)
DRAWN = ("run", "sensitivity")  # panels of the loops


@dataclass(frozen=True)
class LoopAnswers:
    """What the analysis of loops says; `refused` where it could not be made."""

    analysis: DesignAnalysis | None = None
    figure: Figure | None = None
    retries: tuple[Amplified, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class TelemetryFiles:
    """Telemetry that a design is laid beside: series, a log of requests, and a log of what devices did."""

    series: tuple[str, ...]
    requests: str | None = None
    ledger: str | None = None
    step: float | None = None


@dataclass(frozen=True)
class Assessment:
    """The answers about one design.  `before`: the report about an earlier one, and its path; `since`: it is the same
    path at this commit.

    `measured_before`: what the telemetry of the earlier design says of it; `added`: infrastructure that it has not.
    """

    path: str
    system: str
    design: Design
    report: Report
    loops: LoopAnswers
    floors: tuple[DesignFloor, ...]
    telemetry: tuple[Section, ...] = ()
    measured: TelemetryFiles | None = None
    before: tuple[str, Report] | None = None
    since: str = ""
    anonymous: bool = False
    runs: RunAnswers = NOT_RUN
    stability: AssessedMap = NO_MAP
    measured_before: tuple[Section, ...] = ()
    added: tuple[str, ...] = ()

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Returns the findings, the gravest first."""
        return tuple(sorted(self.report.findings, key=_gravity))

    @cached_property
    def open_findings(self) -> tuple[Finding, ...]:
        """Returns the findings that are no proofs, the gravest first."""
        return tuple(finding for finding in self.findings if finding.verdict is not Verdict.PROVED)

    @cached_property
    def rows(self) -> tuple[Mapping[str, str], ...]:
        """Returns the row of each policy."""
        return tuple(policy_rows(self.design))

    def of_verdict(self, verdict: Verdict) -> tuple[Finding, ...]:
        """Returns the findings of a verdict."""
        return tuple(finding for finding in self.findings if finding.verdict is verdict)

    def section(self, title: str) -> Section | None:
        """Returns what the telemetry says under a title; None where it says nothing."""
        return next((section for section in self.telemetry if section.title == title), None)

    def anchor(self, finding: Finding) -> str:
        """Returns the name of a finding on the page: F1, F2, ..."""
        return f"F{1 + self.findings.index(finding)}"


def _gravity(finding: Finding) -> tuple[int, int, bool, tuple[object, ...], str, str]:
    """Orders findings: conflicts, then what is open, then proofs; within them by severity and certainty."""
    verdict = VERDICTS.index(finding.verdict)
    severity, possible = ORDER.index(finding.severity), finding.certainty != "certain"
    return (verdict, severity, possible, finding.places[:1], finding.code, finding.message)


def weak(finding: Finding) -> bool:
    """Decides whether a `proved` rests on less than a proof."""
    return finding.verdict is Verdict.PROVED and finding.evidence.grade is not Grade.PROVED


def assess(  # noqa: PLR0913  (one parameter per question of the page)
    path: str, *, seconds: float, today: str, telemetry: TelemetryFiles | None = None, before: str | None = None,
    since: str = "", telemetry_before: TelemetryFiles | None = None, answering: Answering | None = None,
    anonymous: bool = False,
) -> Assessment:  # fmt: skip
    """Asks every engine about the design at a path, each within so many seconds.

    before: the path of an earlier design; since: a commit, at which the design at the same path is the earlier one.
    Raises InputError, UsageError.
    """
    from coherence.base.reads import recorded
    from coherence.checking.repair.added_infrastructure import added_infrastructure
    from coherence.checking.workspace import open_workspace
    from coherence.loops.pictures.analysis_figure import system_name

    workspace = open_workspace([path])
    design = workspace.one_entry(path).design
    report = _report(workspace, seconds, today, answering)
    other = _stood_at(since, path) if since else open_workspace([before]) if before else None
    named = before or path
    earlier = None if other is None else (named, _report(other, seconds, today, answering))
    old = None if other is None else other.one_entry(named).design
    system = design.system.text if design.system else system_name(path)
    with recorded():
        loops, floors = _loops(design, workspace, seconds, system), _floors(design)
        measured = () if telemetry is None else _telemetry(design, telemetry, seconds)
        past = () if telemetry_before is None or old is None else _telemetry(old, telemetry_before, seconds)
        runs = run_answers(design, old, seconds)
        names = [name for group in (loops.analysis.groups if loops.analysis else ()) for name in group.group.names]
        mapped = stability_map(workspace.entries[0], report.findings, names, seconds / 3) if names else NO_MAP
    added = () if old is None else added_infrastructure(old, design)
    return Assessment(path, system, design, report, loops, floors, measured, telemetry, earlier, since, anonymous,
                      runs, mapped, past, added)  # fmt: skip


def _stood_at(commit: str, path: str) -> Workspace:
    """Returns the designs at a path as they stood at a commit, named as they are today."""
    from coherence.checking.earlier_tree import earlier_design
    from coherence.checking.workspace import open_workspace

    with earlier_design(commit, path) as stood:
        return open_workspace([stood.path], root=stood.root)


def _report(workspace: Workspace, seconds: float, today: str, answering: Answering | None) -> Report:
    from coherence.checking.reports import report

    return report(workspace, time_limit=seconds, today=today, answering=answering)


def _loops(design: Design, workspace: Workspace, seconds: float, system: str) -> LoopAnswers:
    """Returns the analysis of the loops with its figure."""
    from coherence.base.errors import CoherenceError
    from coherence.base.reads import answered
    from coherence.base.watchdog import run_limit
    from coherence.findings.question_input import Subject
    from coherence.loops.analysis.design_analysis import analysed
    from coherence.loops.analysis.retry_products import amplified
    from coherence.loops.pictures.analysis_figure import of_design

    retries = answered(lambda: amplified(design)).paths
    subject = Subject(design, workspace.entries[0].sources, seconds)
    try:
        with run_limit(seconds):
            analysis = analysed(subject.model, time_limit=seconds / 2)
            drawn = of_design(system, analysis, subject.model, seconds=seconds / 4, kinds=DRAWN)
    except CoherenceError as error:
        return LoopAnswers(retries=retries, refused=str(error))
    return LoopAnswers(analysis, drawn if analysis.groups else None, retries)


def _floors(design: Design) -> tuple[DesignFloor, ...]:
    from coherence.base.errors import CoherenceError
    from coherence.minimums.design_floors import design_floors
    from coherence.minimums.loop_floors import loop_floors
    from coherence.model.elaborate import model_of

    try:
        return (*design_floors(design), *loop_floors(model_of(design)))
    except CoherenceError:
        return design_floors(design)


def _telemetry(design: Design, files: TelemetryFiles, seconds: float) -> tuple[Section, ...]:
    """Returns what the telemetry says of the design, as `coherence fit` does."""
    from coherence.base.watchdog import run_limit
    from coherence.causal import telemetry
    from coherence.causal.sections import answers
    from coherence.causal.session.context import Context, FitSettings

    with run_limit(seconds * 10):
        named = telemetry.named(telemetry.read(files.series), design.telemetry)
        series = telemetry.aligned(named, step=files.step, keep=("constant", "copies"))
        context = Context(design, series, FitSettings(requests=files.requests, ledger=files.ledger))
        context.telemetry_report = telemetry.report(named, series, wanted=context.wanted)
        return tuple(answers(context))


def counted_lines(lines: Sequence[NotRead]) -> Sequence[NotRead]:
    """Returns those of the lines about what was not read that touch an answer."""
    return [line for line in lines if line.counts]
