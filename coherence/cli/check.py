"""Check designs and manifests: every pair of policies proved, refuted or undecided."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import PER_DESIGN, STOPPED_CODE, WHOLE, current_run, interruptible, run_limit
from coherence.cli._given import refuse_given
from coherence.cli._output import Output, output_option
from coherence.cli._progress import Progress
from coherence.cli._reports import FORMATS, put_out_problems, put_out_report
from coherence.cli._seconds import time_limit_option
from coherence.cli._unread import strict_code, strict_option
from coherence.cli._width import print_text
from coherence.cli._workers import workers_of
from coherence.findings.finding import Finding, Grade, Report, Severity, Verdict

if TYPE_CHECKING:
    from coherence.checking.reports import Answering
    from coherence.checking.workspace import Workspace
    from coherence.exploring.fixing import Wanted
    from coherence.findings.baselines import BaselineEntry
    from coherence.findings.diagnostic_domains import Domain

KINDS = (  # of default promises
    "target", "writers", "start", "order", "drain", "answer", "work", "update", "rest", "load",
)  # fmt: skip
SEVERITIES = {"info": 0, "warning": 1, "error": 2}
OF_A_REPAIR = 2 / 3  # of the time limit that --fix and --diff may take, and the report after them the rest

OF_A_REPORT = (
    "select", "domain", "ignore", "without", "fail_on", "min_evidence", "output", "strict", "baseline", "since",
    "thorough", "no_cache", "verbose", "picture",
)  # fmt: skip


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--select", "-s", multiple=True, metavar="COH2", help="Only codes that begin with this (repeatable).")
@click.option("--ignore", "-i", multiple=True, metavar="COH2", help="No codes that begin with this (repeatable).")
@click.option("--domain", metavar="ai.07", help="Only the questions of this domain; say what it is meant for.")
@click.option(
    "--without", multiple=True, type=click.Choice(KINDS),
    help="Switch off default promises of this kind (repeatable; `inventory` lists them).",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice(["conflict", "error", "warning", "info", "never"]), default="conflict",
    show_default=True,
    help="Exit 1 at a conflict, certain or possible (and at any error), or at this severity of problem and above.",
)  # fmt: skip
@click.option(
    "--min-evidence", type=click.Choice([g.value for g in Grade]), default="estimated", show_default=True,
    help="Leave out findings with weaker evidence.",
)  # fmt: skip
@output_option(*FORMATS, problems=put_out_problems)
@click.option("--picture", metavar="FILE.svg", help="Draw how each conflict happens, step by step in time.")
@strict_option("something is undecided or not read, or no question answers about a design")
@click.option(
    "--expect",
    is_flag=True,
    help="Compare each design with the expected.yaml beside it instead of failing on findings.",
)
@time_limit_option(
    0.1, None, "Of the processor, for the whole run, shared out among its designs; one question has a third at most. "
    "Without it each design has 60 s.",
)  # fmt: skip
@click.option("--fix", is_flag=True, help="Edit the files: the smallest change that removes all conflicts it can.")
@click.option("--diff", is_flag=True, help="Print that change as a unified diff, and write nothing.")
@click.option("--baseline", metavar="FILE", help="Findings in it are known (see `coherence baseline`).")
@click.option(
    "--since",
    metavar="COMMIT",
    help="What stood where this branch left COMMIT of its git repository is known; say what changed, and what is new.",
)
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@click.option("--thorough", is_flag=True, help="Search repairs and blame where that means executing loops again, too.")
@click.option("--no-cache", is_flag=True, help="Ask everything again, and keep nothing.")
@click.option("--verbose", "-v", is_flag=True, help="In text: proofs in full, and every value that is not read.")
def command(paths: Sequence[str], **options: Any) -> int:
    """Check designs (YAML that begins with `coherence: 1`) and manifests; PATHS are files, folders, or `-` for a pipe.

    Manifests given in one command are taken as applied together: they form one design.
    """
    chosen = CheckOptions(**options)
    if chosen.domain and chosen.select:
        raise UsageError("--domain chooses codes: leave --select out, or --ignore some")
    _known(chosen.select, chosen.ignore)
    if sum((chosen.fix, chosen.diff, chosen.watch, chosen.expect)) > 1:
        raise UsageError("of --fix, --diff, --watch and --expect only one is done at a time")
    if chosen.since and (chosen.fix or chosen.diff or chosen.watch):
        raise UsageError("--since compares two states, and --fix, --diff and --watch work on one: leave one out")
    if "-" in paths and (chosen.fix or chosen.watch or chosen.expect or chosen.since):
        raise UsageError("`-` is standard input, and --fix, --watch, --expect and --since are about files")
    if chosen.expect:
        refuse_given(OF_A_REPORT, "--expect compares every finding with the expected.yaml beside the design")
        return _expected(paths, chosen)
    _refuse_unprinted(chosen)
    if chosen.watch:
        refuse_given(("fail_on", "strict"), "--watch goes on until Ctrl-C, and ends with 0")
        from coherence.checking.watch import FileTimes
        from coherence.cli._watch import watched

        memory = FileTimes()
        return watched(
            paths,
            lambda: _reported(paths, chosen, answering=memory.answers),
            lambda made: put_out_report(made, chosen.output, verbose=chosen.verbose),
            lambda made: put_out_report(made, chosen.files, verbose=chosen.verbose),
        )
    if chosen.fix or chosen.diff:
        refuse_given(("without", "domain"), "a repair is for every conflict: write --ignore CODE")
        return _fixed(paths, chosen)
    with Progress("checking") as bar, interruptible(bar) as run:
        report = _reported(paths, chosen)
    put_out_report(report, chosen.output, verbose=chosen.verbose)
    if chosen.picture:
        _draw(paths, report, chosen.picture)
    return STOPPED_CODE if run.stopped else exit_code(report, chosen.fail_on, strict=chosen.strict)


def _draw(paths: Sequence[str], report: Report, file: str) -> None:
    """Draws the conflicts of a report; its title names the systems that were checked."""
    from coherence.reporting.pictures.conflicts import conflicts_drawing
    from coherence.reporting.pictures.files import write_drawing

    write_drawing(conflicts_drawing(report, ", ".join(map(_system, paths))), file)


def _system(path: str) -> str:
    """Returns the name of what stands at a path: of one design the name of its system, else of its file or folder."""
    from coherence.checking.workspace import open_workspace
    from coherence.cli._designs import system_of
    from coherence.loops.pictures.analysis_figure import system_name

    entries = open_workspace([path]).entries if path != "-" else ()
    return system_of(path, entries[0]) if len(entries) == 1 else system_name(path)


def _refuse_unprinted(options: CheckOptions) -> None:
    """Refuses formats that nothing is printed in, words that no text says, and pictures of what is not drawn."""
    if options.picture:
        if options.watch or options.fix or options.diff:
            refuse_given(("picture",), "it is drawn of one report: leave --watch, --fix and --diff out")
        from coherence.reporting.pictures.files import check_drawing

        check_drawing(options.picture)
    if options.diff and options.files != options.output:
        refuse_given(("output",), "--diff prints the change alone: write -o FORMAT=FILE")
    outputs = options.files if options.diff else options.output
    if not any(output.form == "text" for output in outputs):
        refuse_given(
            ("verbose",),
            "it lengthens the text, and no text is printed: other formats are as long as they are, and JSON has all",
        )


@dataclass(frozen=True)
class CheckOptions:
    """The options of one `check`."""

    select: tuple[str, ...]
    domain: str | None
    ignore: tuple[str, ...]
    without: tuple[str, ...]
    fail_on: str
    min_evidence: str
    output: tuple[Output, ...]
    strict: bool
    expect: bool
    time_limit: float | None
    fix: bool
    diff: bool
    baseline: str | None
    since: str | None
    watch: bool
    thorough: bool
    no_cache: bool
    verbose: bool
    picture: str | None

    @property
    def of_question(self) -> float:
        """Returns the seconds that one question may take at most."""
        return (self.time_limit or PER_DESIGN) / WHOLE

    def of_run(self, designs: int) -> float:
        """Returns the seconds that the questions and repairs of so many designs may take."""
        return self.time_limit or PER_DESIGN * designs

    @property
    def files(self) -> tuple[Output, ...]:
        """Returns the outputs that go to files."""
        return tuple(output for output in self.output if output.file)


def _expected(paths: Sequence[str], options: CheckOptions) -> int:
    from pathlib import Path

    from coherence.checking.expectations import compare, expected_files, summary

    files = expected_files(map(Path, paths))
    limit = options.of_run(len(files)) / max(len(files), 1) / WHOLE
    with Progress("checking") as bar:
        results = []
        for result in compare(files, time_limit=limit, workers=workers_of(None, None, len(files))):
            results.append(result)
            bar(len(results) / len(files), str(result.path))
    print_text(summary(results), nl=False)
    return 0 if all(not result.differences for result in results) else 1


def _reported(
    paths: Sequence[str], options: CheckOptions, opened: Workspace | None = None, answering: Answering | None = None
) -> Report:
    from coherence.checking.reports import report
    from coherence.checking.workspace import open_workspace

    entries = _baseline(options)  # a baseline that cannot be read is said before anything is checked
    domain = _domain(options.domain)

    def reported(workspace: Workspace, *, later: int = 0) -> Report:
        with run_limit(current_run().left / (1 + later)):
            return chosen(workspace)

    def chosen(workspace: Workspace) -> Report:
        answered = report(
            workspace, select=domain.codes if domain else options.select, ignore=options.ignore,
            time_limit=options.of_question, today=time.strftime("%Y-%m-%d"), thorough=options.thorough,
            answering=answering or _cached(options), without=options.without,
        )  # fmt: skip
        if domain:
            answered = domain.stated(answered, [entry.design for entry in workspace.entries])
        return stronger(answered, options.min_evidence)

    with run_limit(options.time_limit or math.inf):
        if options.since:
            from coherence.checking.since import report_since

            answered = report_since(options.since, paths, reported)
        else:
            answered = reported(opened or open_workspace(paths))
    return answered if entries is None else _known_left_out(answered, entries)


def _domain(name: str | None) -> Domain | None:
    if name is None:
        return None
    from coherence.findings.diagnostic_domains import domain

    return domain(name)


def _cached(options: CheckOptions) -> Answering | None:
    if options.no_cache:
        return None
    from coherence.checking.cache import Cache, folder

    return Cache(folder()).answers


def _baseline(options: CheckOptions) -> Sequence[BaselineEntry] | None:
    if options.baseline is None:
        return None
    from coherence.findings import baselines
    from coherence.language.environments.overlay import chosen_name

    return baselines.within(baselines.read(options.baseline), chosen_name())


def _known_left_out(report: Report, entries: Sequence[BaselineEntry]) -> Report:
    from coherence.findings import baselines

    split = baselines.compared(report.findings, entries)
    gone = baselines.compared((*report.findings, *report.known), entries).gone
    known = (*report.known, *split.known)
    return replace(report, findings=split.new, known=known, gone=sum(entry.count for entry in gone))


def _fixed(paths: Sequence[str], options: CheckOptions) -> int:
    """Repairs and reports what is left (`--fix`), or shows the repair and reports what there is (`--diff`)."""
    from coherence.checking.workspace import open_workspace

    opened, entries = open_workspace(paths), _baseline(options)
    _refuse_environments(opened)
    with run_limit(options.of_run(len(opened.entries))):
        return _repaired(paths, options, opened, _wanted(options, entries or ()))


def _refuse_environments(opened: Workspace) -> None:
    """Refuses to repair a design in several environments; says of one that the others are not asked again."""
    for file in dict.fromkeys(entry.design.file for entry in opened.entries if entry.design.environment):
        names = [entry.design.environment for entry in opened.entries if entry.design.file == file]
        if len(names) > 1:
            raise UsageError(f"{file} is repaired in one environment: choose it by `--in`: {', '.join(names)}")
        click.echo(f"{file}: re-checked in {names[0]} alone; check the other environments after it", err=True)


def _repaired(paths: Sequence[str], options: CheckOptions, opened: Workspace, wanted: Wanted) -> int:
    from coherence.cli import _fix

    repairs = _fix.fixes(opened, wanted, time_limit=options.of_question * OF_A_REPAIR)
    changed = _fix.changed_texts(opened, repairs)
    _fix.tell(repairs, done=options.fix)
    if options.fix:
        _fix.write(changed)
        report = _reported(paths, options)
        put_out_report(report, options.output, verbose=options.verbose)
    else:
        _fix.show(changed)
        report = _reported(paths, options, opened)
        put_out_report(report, options.files, verbose=options.verbose)
    return exit_code(report, options.fail_on, strict=options.strict)


def _wanted(options: CheckOptions, entries: Sequence[BaselineEntry]) -> Wanted:
    """Returns the filter of findings that count: chosen, not silenced by a comment, not in the baseline."""
    from coherence.findings import baselines
    from coherence.findings.design_answers import passes
    from coherence.findings.suppressions import apply

    today = time.strftime("%Y-%m-%d")

    def wanted(sources: Mapping[str, str], findings: Sequence[Finding]) -> Sequence[Finding]:
        chosen = [f for f in findings if passes(f.code, options.select, options.ignore)]
        unsilenced, _ = apply(sources, chosen, today, lambda code: passes(code, options.select, options.ignore))
        return baselines.compared(unsilenced, entries).new

    return wanted


def _known(select: Sequence[str], ignore: Sequence[str]) -> None:
    for prefix in (*select, *ignore):
        if not prefix.startswith("COH"):
            raise UsageError(f"'{prefix}' is not the beginning of a code; write for example COH2 or COH203")
    if select or ignore:
        from coherence.findings.registry import require_known_codes

        require_known_codes((*select, *ignore))


def stronger(report: Report, least: str) -> Report:
    """Returns the report without findings whose evidence is weaker than `least`."""
    grades = [g.value for g in Grade]
    strong = tuple(f for f in report.findings if grades.index(f.evidence.grade) <= grades.index(least))
    return replace(report, findings=strong)


def exit_code(report: Report, fail_on: str, *, strict: bool) -> int:
    """Returns 1 where a problem fails by `fail_on`, else 0; with `strict` 4 instead of 0 where something is undecided,
    not read, or a whole design without an answer.
    """
    if fail_on != "never" and any(_fails(finding, fail_on) for finding in report.findings):
        return 1
    undecided = any(f.verdict is Verdict.UNDECIDED for f in report.findings)
    left_open = undecided or report.accounting.unanswered > 0
    return strict_code(0, report.not_read, strict=strict, left_open=left_open)


def _fails(finding: Finding, fail_on: str) -> bool:
    if finding.verdict is Verdict.PROVED and finding.severity is Severity.INFO:
        return False
    least = "error" if fail_on == "conflict" else fail_on
    stated = fail_on == "conflict" and finding.verdict is Verdict.CONFLICT
    return stated or SEVERITIES[finding.severity] >= SEVERITIES[least]
