"""Asks the questions about every design of a workspace, and joins the findings to one report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import groupby, starmap
from typing import TYPE_CHECKING, Any

from coherence.base.errors import Problem
from coherence.base.watchdog import shares_of_run
from coherence.checking.workspace import Entry, Workspace, open_workspace
from coherence.findings.design_answers import Answers, order_key, passes
from coherence.findings.finding import Accounting, Finding, NotRead, Report, setting
from coherence.findings.suppressions import apply as apply_suppressions
from coherence.language.design import Design

if TYPE_CHECKING:
    from pathlib import Path  # 5 ms of a policy check: os.path serves the hot path

    from coherence.importers import ObjectName

Answering = Callable[[Entry, Mapping[str, Any]], Answers]  # a design and the options of `analyse`


def report(  # noqa: PLR0913  (one parameter for each option)
    workspace: Workspace, *, select: Sequence[str] = (), ignore: Sequence[str] = (), time_limit: float = 20.0,
    today: str = "", verify_repairs: bool = True, thorough: bool = False, answering: Answering | None = None,
    without: Sequence[str] = (),
) -> Report:  # fmt: skip
    """Returns the findings about every design of the workspace, as one report.

    `today` (YYYY-MM-DD) ends dated suppressions; `answering` may know answers that need not be asked again;
    `without` names kinds of default promises that are switched off.  `time_limit`: seconds for one question; a limit of
    the run around (`run_limit`) is shared out among the designs.
    """
    options = {
        "select": tuple(select), "ignore": tuple(ignore), "time_limit": time_limit, "verify_repairs": verify_repairs,
        "thorough": thorough,
    }  # fmt: skip
    joined, shares = _unasked(workspace), shares_of_run(len(workspace.entries))

    def answer(entry: Entry) -> Answers:
        with next(shares):
            return (answering or ask)(entry, options)

    def join(previous: Report, entry: Entry, answers: Answers) -> Report:
        return _joined(previous, entry, answers, today, lambda code: passes(code, select, ignore), without)

    for environment, group in groupby(workspace.entries, lambda entry: entry.design.environment and entry.design.file):
        if environment:
            from coherence.checking.several_environments import in_each

            joined = in_each(answer, join, group, joined)
        else:
            joined = reduce(lambda done, entry: join(done, entry, answer(entry)), group, joined)
    return _in_order(joined)


def _in_order(report: Report) -> Report:
    """Returns the report without repetitions, its findings in order, with the texts of the parts they point at."""
    findings = tuple(sorted(_unlike(report.findings), key=order_key))
    return replace(
        report, findings=findings, suppressed=tuple(_unlike(report.suppressed)),
        not_read=tuple(dict.fromkeys(report.not_read)), sources={**report.sources, **_part_sources(findings)},
    )  # fmt: skip


def _unasked(workspace: Workspace) -> Report:
    """Returns the report about a workspace before any question is asked."""
    notes = (setting(place, text) for place, text in workspace.notes)
    not_read = (*starmap(_refused, workspace.refused.items()), *notes)
    texts, skipped = dict(workspace.sources), tuple(workspace.skipped)
    return Report((), Accounting(), tuple(workspace.inputs), texts, skipped=skipped, not_read=not_read)


def _refused(name: ObjectName, problem: Problem) -> NotRead:
    message = problem.message.partition("\n")[0]
    return NotRead(problem.place, "manifests", f"{name[1]} {name[3]}", message, "refused, the others are read", True)


def _unlike(findings: Iterable[Finding]) -> Iterable[Finding]:
    """Returns the findings without repetitions: one file may be of several designs."""
    return {(finding.fingerprint, finding.places): finding for finding in findings}.values()


def ask(entry: Entry, options: Mapping[str, Any]) -> Answers:
    """Returns the answers of every question about one design."""
    from coherence.checking.design_check import analyse  # answers of an earlier run need none of it

    return analyse(entry.design, entry.sources, entry.rebuild, **options)


def _joined(
    previous: Report, entry: Entry, answers: Answers, today: str, wanted: Callable[[str], bool], without: Sequence[str]
) -> Report:
    from coherence.checking.default_promises import counted

    unsilenced, silenced = apply_suppressions(entry.sources, answers.findings, today, wanted)
    promised = counted(entry.design, unsilenced, wanted, without)
    return replace(
        previous,
        findings=previous.findings + promised.findings,
        open_promises=previous.open_promises + promised.open,
        suppressed=previous.suppressed + silenced,
        accounting=previous.accounting + answers.accounting,
        assumptions=tuple(dict.fromkeys(previous.assumptions + answers.assumptions)),
        not_read=(*previous.not_read, *answers.not_read, *_not_modelled(entry.design)),
    )


def _not_modelled(design: Design) -> tuple[NotRead, ...]:
    """Returns what is outside of the model of a design, or of its environment."""
    lines = tuple(setting(*line) for line in design.not_modelled)
    if not design.unused:
        return lines
    from coherence.findings.not_read import unused_values

    return (*lines, *unused_values(design))


def _part_sources(findings: Iterable[object]) -> dict[str, str]:
    """Returns the texts of the parts that findings point at, for the carets."""
    named = {place.file for f in findings for place in getattr(f, "places", ()) if place.file.startswith("models/")}
    if not named:
        return {}
    from coherence.language.catalogue import shipped

    root = shipped("models").parent
    return {name: (root / name).read_text(encoding="utf-8") for name in sorted(named) if (root / name).is_file()}


def check(*paths: str | Path, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Report:
    """Returns the report about designs and manifests: files, or folders of them.  Raises InputError."""
    return report(open_workspace(paths), select=select, ignore=ignore)
