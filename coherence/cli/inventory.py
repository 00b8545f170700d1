"""The control plane inventory: every loop, call, timer and limit with who decides what, when and on what"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coherence.base.outside_text import visible
from coherence.base.watchdog import STOPPED_CODE, interruptible
from coherence.checking.policy_rows import COLUMNS, policy_rows
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._progress import Progress
from coherence.language.design import Design

if TYPE_CHECKING:
    from coherence.checking.default_promises import DefaultPromise
    from coherence.checking.design_check import Analysis

SHOWN = (*COLUMNS[:-1], "read by", "place")


@click.command("inventory")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_option("text", "markdown", "json")
def command(paths: Sequence[Path], output: Sequence[Output]) -> int:
    """List every policy of the designs: objective, target, timescale, trigger, actuation; `?` = not stated.

    `read by` has the codes of the questions that answer about the policy (`coherence explain CODE`), or `nobody`.
    Below stands what the policies promise without a word, counted by kind, and one by one where it is open or broken
    (JSON: all); `check --without KIND` switches a kind off.
    """
    from coherence.checking.default_promises import default_promises
    from coherence.checking.design_check import Options, analysis
    from coherence.checking.workspace import open_workspace

    rows: list[dict[str, str]] = []
    promised: list[tuple[DefaultPromise, str]] = []
    with Progress("checking") as bar, interruptible(bar) as run:
        for entry in open_workspace(paths).entries:
            options = Options(verify_repairs=False, share=False)
            answers = analysis(entry.design, entry.sources, entry.rebuild, options=options)
            pairs = zip(policy_rows(entry.design), _read_by(entry.design, answers), strict=True)
            where = _where(entry.design)
            rows += [{**row, "read by": read_by, **where, "place": row["place"]} for row, read_by in pairs]
            findings = answers.answers.findings
            promised += [(p, p.state(findings)) for p in default_promises(entry.design, findings)]
    put_out(output, lambda form: _rendered(form, rows, promised))
    if run.stopped:
        click.echo("stopped: `read by` has the questions that were asked before", err=True)
    return STOPPED_CODE if run.stopped else 0


def _rendered(form: str, rows: list[dict[str, str]], promised: Sequence[tuple[DefaultPromise, str]]) -> str:
    from coherence.checking.default_promises import render_counts, render_open
    from coherence.door.result import head

    if form == "json":
        promises = [promise.to_dict(state) for promise, state in promised]
        return json.dumps({**head("inventory"), "policies": rows, "default_promises": promises}, indent=2) + "\n"
    table = _table(rows, markdown=form == "markdown")
    if not promised:
        return table
    lines = (*render_counts((promise.kind, state) for promise, state in promised), *render_open(promised))
    return f"{table}\nDefault promises:\n" + "".join(f"- {visible(line)}\n" for line in lines)


def _where(design: Design) -> dict[str, str]:
    """Returns the environment of a design, if it is in one."""
    return {"environment": design.environment} if design.environment else {}


def _read_by(design: Design, answers: Analysis) -> Iterator[str]:
    """Yields the codes of the questions that answer about each policy, in the order of the rows."""
    from coherence.checking.design_check import readers_of

    readers = readers_of(answers)
    sections = {"loops": design.loops, "calls": [call.name for call in design.calls]}
    policies = {**sections, "timers": design.timers, "limits": design.limits}
    for section, names in policies.items():
        for name in names:
            yield ", ".join(readers.get((section, name), ())) or "nobody"


def _table(rows: list[dict[str, str]], *, markdown: bool) -> str:
    if markdown:
        from coherence.reporting.markdown import escaped

        head = [f"| {' | '.join(SHOWN)} |", f"|{' --- |' * len(SHOWN)}"]
        listed = [[*(row[c] for c in SHOWN[:-1]), _place(row)] for row in rows]
        return "\n".join([*head, *(f"| {' | '.join(map(escaped, cells))} |" for cells in listed)]) + "\n"
    rows = [{**row, "place": _place(row)} for row in rows]
    widths = {c: min(34, max(len(c), *(len(row[c]) for row in rows))) if rows else len(c) for c in SHOWN[:-1]}
    lines = ["  ".join(f"{c:<{w}}" for c, w in widths.items()) + "  place"]
    lines += ["  ".join(f"{_cut(row[c], w):<{w}}" for c, w in widths.items()) + f"  {row['place']}" for row in rows]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _place(row: dict[str, str]) -> str:
    return f"{row['place']} (in {row['environment']})" if "environment" in row else row["place"]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
