"""Bound what no retuning can reach: floors of a design, or one lower bound with its proof"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError
from coherence.cli._given import refuse_given
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._unread import strict_code, strict_option

if TYPE_CHECKING:
    from coherence.door.bound import BoundResult, FloorsResult
    from coherence.findings.finding import NotRead
    from coherence.minimums.bound import Checked

SECOND_SOLVER = 5_000  # ms for each script
OF_ONE = ("measured", "picture", "schedule", "strict")  # options of one design or one bound


@click.command("bound")
@click.argument("target", required=False)
@click.argument("inputs", nargs=-1, metavar="[SYMBOL=VALUE]...")
@click.option("--list", "listing", is_flag=True, help="List every bound.")
@click.option("--buys", is_flag=True, help="Say what a clock, a leader, a detector, a bound on delays buys.")
@click.option("--prove", is_flag=True, help="Prove the bounds again, or the one named; exit 1 if one fails.")
@click.option("--certificates", metavar="FOLDER", help="With --prove: write each script that a solver was asked.")
@click.option(
    "--measured",
    multiple=True,
    metavar="THING.BOUND=VALUE",
    help="Split a measurement into floor, scheme and rest; THING.BOUND.SYMBOL=VALUE gives an input of it.",
)
@click.option("--picture", metavar="FILE", help="Draw one bound over its ranges: FILE.svg, or FILE.png.")
@click.option(
    "--schedule", metavar="FILE", help="Write what attains a fabric's floor: .xml for MSCCL, .et for ASTRA-sim."
)
@strict_option("a floor is without a number or a value that counts is not read")
@output_option("text", "json", "latex", "csv")
def command(  # noqa: PLR0913  (one parameter per option)
    *,
    target: str | None,
    inputs: Sequence[str],
    listing: bool,
    buys: bool,
    prove: bool,
    certificates: str | None,
    measured: Sequence[str],
    picture: str | None,
    schedule: str | None,
    strict: bool,
    output: Sequence[Output],
) -> int:
    """Floors of the design at TARGET, or the bound of that name at the inputs given.

    A range `SYMBOL='40 ms .. 60 ms'` gives the least value of the bound over it, which holds whatever the input is.
    """
    if prove:
        return _prove(target, certificates, output)
    refuse_given(("certificates",), "scripts are of proofs: say --prove")
    if buys or listing:
        return _buys([*filter(None, [target]), *inputs], output) if buys else _list(output)
    if target is None:
        raise UsageError("name a design or a bound, or ask for --list, --buys or --prove")
    from coherence.minimums.registry import entries

    if target in entries():
        refuse_given(("strict",), "a bound by its name reads no design")
        if measured:
            raise UsageError("--measured splits a measurement of a design: name the design, then THING.BOUND=VALUE")
        return _bound(target, inputs, output, picture) if schedule is None else _schedule(target, inputs, schedule)
    _refuse_unknown_bound(target)
    refuse_given(("schedule",), "it is of one bound of a fabric, such as all_gather_fabric fabric=0>1,1>2,2>0")
    refuse_given(("picture",), "it draws one bound over a range, such as all_reduce_ring n=2..64")
    if inputs:
        raise UsageError(f"'{inputs[0]}' is an input of a bound, and {target} is none: coherence bound --list")
    lines, left_open = _design(target, measured, output)
    return strict_code(0, lines, strict=strict, left_open=left_open)


def _refuse_unknown_bound(target: str) -> None:
    """Raises UsageError with what is near, for a name that is no path."""
    if target != "-" and not Path(target).exists() and "/" not in target and "." not in target:
        from coherence.minimums.registry import entry

        entry(target)


def _buys(inputs: Sequence[str], output: Sequence[Output]) -> int:
    from coherence.cli._buys import buys, buys_json, buys_text

    refuse_given(("listing", *OF_ONE), "--buys shows tasks in models, at inputs such as failures=2")
    if any(one.form in ("latex", "csv") for one in output):
        raise UsageError("-o latex and csv are of one bound, or of a design; --buys prints text or json")
    values = buys(inputs)
    put_out(output, lambda form: {
        "json": lambda: _json({"tasks": buys_json(values)}), "text": lambda: _lines(buys_text(values)),
    }[form]())  # fmt: skip
    return 0


def _list(output: Sequence[Output]) -> int:
    from coherence.minimums import report, tables
    from coherence.minimums.registry import entries

    refuse_given(("target", "inputs", *OF_ONE), "--list shows every bound")
    every = tuple(entries().values())
    put_out(output, lambda form: {
        "json": lambda: _json({"bounds": [report.bound_json(entry) for entry in every]}),
        "latex": lambda: _lines(line for entry in every for line in report.page_latex(entry)),
        "csv": lambda: tables.bounds_csv(entry.bound for entry in every),
        "text": lambda: _lines(report.table(every)),
    }[form]())  # fmt: skip
    return 0


def _bound(name: str, inputs: Sequence[str], output: Sequence[Output], picture: str | None) -> int:
    from coherence.door.bound import bound_at, page_of

    if inputs and any(one.form == "latex" for one in output):
        raise UsageError("-o latex is of the formula, and takes no values: leave the inputs out, or take text or json")
    if not inputs:
        refuse_given(("picture",), "there is nothing to draw without values: give an input as A..B")
    result = bound_at(name, inputs) if inputs else page_of(name)
    if picture is not None and result.answers is not None:
        from coherence.minimums.bound_figure import bound_figure
        from coherence.reporting.pictures import files

        files.write(bound_figure(result.registered.bound, result.answers.floor.inputs), picture)
    put_out(output, partial(_rendered, name, result))
    return 0


def _schedule(name: str, inputs: Sequence[str], file: str) -> int:
    from coherence.cli._schedule import write_schedule

    return write_schedule(name, inputs, file)


def _rendered(name: str, result: BoundResult, form: str) -> str:
    """Returns one bound, or its value, in a format."""
    from coherence.minimums import report, tables
    from coherence.minimums.registry import entry

    if form == "json":
        return json.dumps(result.data, indent=2, allow_nan=False) + "\n"
    if form == "csv":
        own, answers = result.registered.bound, result.answers
        return tables.bounds_csv([own]) if answers is None else tables.value_csv(answers.floor, answers.rungs)
    if result.answers is None:
        return _lines(report.page_latex(entry(name)) if form == "latex" else report.page(entry(name)))
    answers = result.answers
    return _lines((
        *report.value_text(answers.floor, answers.steep, answers.rungs),
        *report.witness_text(answers.floor, answers.attained, answers.why),
        *(f"  {line}" for line in report.worth_text(answers.worth, answers.floor.bound.unit)),
    ))  # fmt: skip


def _design(target: str, measured: Sequence[str], output: Sequence[Output]) -> tuple[Sequence[NotRead], bool]:
    """Prints the floors of every design of a target; returns what they do not depend on, and if one is missing."""
    from coherence.door.bound import floors_of

    result = floors_of(target, measured)
    put_out(output, partial(_floors, result))
    lines = [line for design in result.designs for line in design.unread]
    return lines, any(floor.floor is None for design in result.designs for floor in design.floors)


def _floors(result: FloorsResult, form: str) -> str:
    """Returns the floors of designs in a format."""
    from coherence.cli._unread import left_out_text, unread_text
    from coherence.minimums import report
    from coherence.minimums.losses import report_measured

    if form == "json":
        return json.dumps(result.data, indent=2, allow_nan=False) + "\n"
    if form == "csv":
        from coherence.minimums.tables import floors_csv

        return floors_csv((design.path, design.floors) for design in result.designs)
    if form == "latex":
        return "".join(_lines(report.design_latex(design.floors)) for design in result.designs)
    return "".join(
        _lines((
            *report.design_text(design.path, design.floors), *report_measured.measured_text(design.split),
            *left_out_text(design.assumed), *unread_text(design.unread),
        ))
        for design in result.designs
    )  # fmt: skip


def _prove(target: str | None, certificates: str | None, output: Sequence[Output]) -> int:
    from coherence.cli._progress import Progress
    from coherence.minimums.formulas import sympy
    from coherence.minimums.registry import entries, entry

    refuse_given(("listing", "buys", "inputs", *OF_ONE), "--prove runs proofs, which hold for every input")
    if any(one.form in ("latex", "csv") for one in output):
        raise UsageError("-o latex and csv are of bounds and designs; --prove prints text or json")
    sympy("proving bounds again")
    chosen = (entry(target),) if target is not None else tuple(entries().values())
    begun, rows = time.monotonic(), []
    with Progress("proving") as bar:
        for index, registered in enumerate(chosen):
            bar(index / len(chosen), registered.bound.name)
            for number, proof in enumerate(registered.bound.proofs):
                checked = proof.run()
                rows.append((registered.bound.name, f"{proof.how}, {proof.grade}", _again(checked)))
                if certificates is not None and checked.script:
                    _write(Path(certificates), f"{registered.bound.name}-{number + 1}.smt2", checked.script)
    failed = [name for name, _, checked in rows if not checked.holds]
    cited = [one.bound.name for one in chosen if not one.bound.proofs]
    put_out(output, partial(_proofs, rows, cited))
    click.echo(f"{time.monotonic() - begun:.1f} s", err=True)
    return 1 if failed else 0


def _proofs(rows: Sequence[tuple[str, str, Checked]], cited: Sequence[str], form: str) -> str:
    """Returns proofs that were made again, in a format."""
    if form == "json":
        proofs = [{"bound": name, "how": how, "holds": c.holds, "said": c.words} for name, how, c in rows]
        return _json({"proofs": proofs, "cited": cited})
    width = max((len(name) for name, _, _ in rows), default=0)
    lines = [f"{'ok  ' if c.holds else 'FAIL'}  {name:<{width}}  {how}: {c.words}" for name, how, c in rows]
    proved, failed = len({name for name, _, _ in rows}), sum(not checked.holds for _, _, checked in rows)
    return _lines([*lines, f"{proved} bounds proved by machine, {len(cited)} cited, {failed} proofs failed"])


def _again(checked: Checked) -> Checked:
    """Returns a proof with the answer of a second solver to its script, where that is installed."""
    from dataclasses import replace

    from coherence.base import solver
    from coherence.base.errors import MissingExtraError

    if not checked.script or not checked.holds:
        return checked
    try:
        answer = solver.recheck(checked.script, timeout_ms=SECOND_SOLVER)
    except MissingExtraError:
        return checked
    holds = answer.outcome is not solver.Outcome.SAT
    return replace(checked, holds=holds, words=f"{checked.words} [cvc5: {answer.outcome}]")


def _write(folder: Path, name: str, text: str) -> None:
    from coherence.base.output_files import write_outputs

    write_outputs(folder, {name: text.encode()})


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _json(document: dict[str, Any]) -> str:
    from coherence.door.result import head

    return json.dumps({**head("bound"), **document}, indent=2, allow_nan=False) + "\n"
