"""Bound what no retuning can reach: floors of a design, or one lower bound with its proof"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import InternalError, UsageError
from coherence.cli._given import refuse_given
from coherence.cli._unread import strict_code, strict_option

if TYPE_CHECKING:
    from coherence.findings.finding import NotRead
    from coherence.minimums.bound import Symbol
    from coherence.minimums.floors import Floor, Span
    from coherence.minimums.registry import RegisteredBound

LARGEST = 10**150  # of an input: its powers stay within floating point
ROUNDING = 1e-6  # of floating point in a witness that is solved
WITNESS_SECONDS = 5.0  # that a witness may run for one bound at given inputs


@click.command("bound")
@click.argument("target", required=False)
@click.argument("inputs", nargs=-1, metavar="[SYMBOL=VALUE]...")
@click.option("--list", "listing", is_flag=True, help="List every bound.")
@click.option(
    "--prove", is_flag=True, help="Prove the bounds again: all of them, or the one named; exit 1 if one fails."
)
@click.option("--certificates", metavar="FOLDER", help="With --prove: write each script that a solver was asked.")
@click.option(
    "--measured",
    multiple=True,
    metavar="THING.BOUND=VALUE",
    help="Split a measurement into floor, scheme and rest; THING.BOUND.SYMBOL=VALUE gives an input of it.",
)
@strict_option("a floor is without a number or a value that counts is not read")
@click.option("--output", "-o", type=click.Choice(["text", "json", "latex"]), default="text", show_default=True)
def command(  # noqa: PLR0913  (one parameter per option)
    *,
    target: str | None,
    inputs: Sequence[str],
    listing: bool,
    prove: bool,
    certificates: str | None,
    measured: Sequence[str],
    strict: bool,
    output: str,
) -> int:
    """Floors of the design at TARGET, or the bound of that name at the inputs given.

    A range `SYMBOL='40 ms .. 60 ms'` gives the least value of the bound over it, which holds whatever the input is.
    """
    if prove:
        refuse_given(("listing", "inputs", "measured", "strict"), "--prove runs proofs, which hold for every input")
        return _prove(target, certificates, output)
    refuse_given(("certificates",), "scripts are of proofs: say --prove")
    if listing:
        refuse_given(("target", "inputs", "measured", "strict"), "--list shows every bound")
        return _list(output)
    if target is None:
        raise UsageError("name a design or a bound, or ask for --list or --prove")
    from coherence.minimums.registry import entries

    if target in entries():
        refuse_given(("strict",), "a bound by its name reads no design")
        if measured:
            raise UsageError("--measured splits a measurement of a design: name the design, then THING.BOUND=VALUE")
        return _bound(target, inputs, output)
    _refuse_unknown_bound(target)
    if inputs:
        raise UsageError(f"'{inputs[0]}' is an input of a bound, and {target} is none: coherence bound --list")
    lines, left_open = _design(target, measured, output)
    return strict_code(0, lines, strict=strict, left_open=left_open)


def _refuse_unknown_bound(target: str) -> None:
    """Raises UsageError with what is near, for a name that is no path."""
    if not Path(target).exists() and "/" not in target and "." not in target:
        from coherence.minimums.registry import entry

        entry(target)


def _list(output: str) -> int:
    from coherence.minimums import report
    from coherence.minimums.registry import entries

    every = tuple(entries().values())
    if output == "json":
        _echo_json({"bounds": [report.bound_json(entry) for entry in every]})
    elif output == "latex":
        _echo(line for entry in every for line in report.page_latex(entry))
    else:
        _echo(report.table(every))
    return 0


def _bound(name: str, inputs: Sequence[str], output: str) -> int:
    from coherence.minimums import report
    from coherence.minimums.floors import over
    from coherence.minimums.ladder import ladder
    from coherence.minimums.registry import entry
    from coherence.minimums.sensitivity import sensitivities, value_of_floor

    registered = entry(name)
    if not inputs:
        if output == "json":
            _echo_json(report.bound_json(registered))
        else:
            _echo(report.page_latex(registered) if output == "latex" else report.page(registered))
        return 0
    if output == "latex":
        raise UsageError("-o latex is of the formula, and takes no values: leave the inputs out, or take text or json")
    spans = read_inputs(registered, inputs)
    floor = over(registered.bound, {k: v for k, v in spans.items() if k in registered.bound.names})
    steep = sensitivities(
        registered.bound, {k: _middle(registered.bound.symbol(k), *ends) for k, ends in floor.inputs.items()}
    )
    rungs = ladder(registered.bound, spans)
    worth = value_of_floor(floor)
    attained, why = _attained(floor)
    if output == "json":
        value = {
            **report.value_json(floor, steep, rungs, worth),
            "attained": None if attained is None else float(attained),
        }
        _echo_json({**report.bound_json(registered), "value": value})
    else:
        _echo(report.value_text(floor, steep, rungs))
        _echo(report.witness_text(floor, attained, why))
        _echo(f"  {line}" for line in report.worth_text(worth, registered.bound.unit))
    return 0


def _attained(floor: Floor) -> tuple[Fraction | float | None, str]:
    """Returns what the witness takes at the inputs, where these are single values; else why there is no number."""
    from coherence.base.watchdog import TimeOverError, at_most

    witness = floor.bound.witness
    if witness is None or not floor.point:
        return None, "" if witness is None else "run at single values only"
    try:
        with at_most(WITNESS_SECONDS):
            attained = witness.attained({name: low for name, (low, _) in floor.inputs.items()})
    except TimeOverError:
        return None, f"not over within {WITNESS_SECONDS:g} s at these inputs"
    except (UsageError, ArithmeticError, AssertionError, ValueError) as error:
        return None, f"not run at these inputs: {error}"
    if floor.bound.stands and attained < floor.low * (1 - ROUNDING):
        raise InternalError(f"the witness of {floor.bound.name} takes {float(attained):g}, less than {floor.low:g}")
    return attained, ""


def _middle(symbol: Symbol, low: Any, high: Any) -> Any:
    """Returns the middle of a range, where the slope of a bound is taken; a whole number for a whole symbol."""
    if isinstance(low, tuple):
        return low
    return low + (high - low) // 2 if symbol.whole else (low + high) / 2


def read_inputs(registered: RegisteredBound, inputs: Sequence[str]) -> dict[str, Span]:
    """Returns the spans of SYMBOL=VALUE with a unit, or of a range `A .. B`.  Raises UsageError.

    Symbols of the bounds that remain without an assumption are read too: the ladder needs them.
    """
    from coherence.base.errors import did_you_mean
    from coherence.minimums.registry import entry

    weaker = {s.name: s for name in registered.bound.without.values() for s in entry(name).bound.symbols}
    symbols = {**weaker, **{symbol.name: symbol for symbol in registered.bound.symbols}}

    spans: dict[str, Any] = {}
    for text in inputs:
        name, equals, written = text.partition("=")
        if not equals:
            raise UsageError(f"'{text}' is no input; write for example {registered.bound.names[0]}=8")
        if name not in symbols:
            raise UsageError(
                f"{registered.bound.name} has no symbol '{name}': {did_you_mean(name, registered.bound.names)}"
            )
        if name in spans:
            raise UsageError(f"{name} is given twice")
        spans[name] = read_span(symbols[name], written)
    return spans


def read_span(symbol: Symbol, written: str) -> Any:
    """Returns the range of a symbol: of a value with a unit, of `A .. B`, or (of a list) the same tuple twice."""
    from coherence.minimums.bound import Trend

    if symbol.way is Trend.LIST:
        return (_listed(symbol, written),) * 2
    low, _, high = written.partition("..")
    return _read(symbol, low), _read(symbol, high or low)


def _listed(symbol: Symbol, text: str) -> tuple[Any, ...]:
    """Returns values separated by commas; a pair is written 0>1, rows of a table are separated by semicolons.

    Nothing: none.  `@FILE`: the lines of a file are the rows.
    """
    if text.startswith("@"):
        try:
            lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{symbol.name}: cannot read {text[1:]}: {error}") from None
        return tuple(_listed(symbol, line) for line in lines if line.strip())
    if ";" in text:
        return tuple(_listed(symbol, row) for row in text.split(";") if row.strip())
    parts = [part for part in text.split(",") if part.strip()]
    return tuple(
        tuple(_read(symbol, end) for end in part.split(">")) if ">" in part else _read(symbol, part) for part in parts
    )


def _read(symbol: Symbol, text: str) -> Fraction:
    from coherence.base import units

    angular = "rad" in dict(symbol.dimension.powers)
    per_second = angular and text.rstrip().endswith("/s") and "rad" not in text
    try:
        number, dimension = units.quantity(text.replace("/s", "rad/s") if per_second else text.strip())
    except units.UnitError as error:
        raise UsageError(f"{symbol.name} = '{units.shorten(text)}': {error}; {error.remedy}") from None
    if abs(number) > LARGEST:
        raise UsageError(f"{symbol.name} = '{units.shorten(text)}' is too large: at most 1e150 in SI units")
    if number and not dimension.fits(symbol.dimension):
        raise UsageError(f"{symbol.name} is {dimension}, {symbol.unit} expected: {symbol.means}")
    if number and angular is not ("rad" in dict(dimension.powers)) and dimension.powers:
        raise UsageError(f"{symbol.name} = '{units.shorten(text)}': 1 Hz is 6.28319 rad/s; write it in {symbol.unit}")
    return Fraction(number)


def _design(target: str, measured: Sequence[str], output: str) -> tuple[list[NotRead], bool]:
    """Prints the floors of every design of a target; returns what they do not depend on, and whether one is missing."""
    from coherence.base.reads import recorded
    from coherence.checking.workspace import open_workspace
    from coherence.cli._unread import left_out, left_out_text, unread, unread_json, unread_text
    from coherence.minimums import report
    from coherence.minimums.design_floors import design_floors
    from coherence.minimums.loop_floors import loop_floors
    from coherence.minimums.losses import report_measured
    from coherence.minimums.losses.measured import measurements
    from coherence.model.elaborate import model_of

    designs: list[dict[str, Any]] = []
    every: list[NotRead] = []
    left_open = False
    for entry in open_workspace([target]).entries:
        with recorded() as reads:
            floors = (*design_floors(entry.design), *loop_floors(model_of(entry.design)))
            split = measurements(measured, entry.design, floors, read_span)
        path, lines = entry.design.file or target, unread("bound", entry.design, reads)
        assumed = left_out(entry.design, reads)
        every += lines
        left_open = left_open or any(floor.floor is None for floor in floors)
        if output == "json":
            shares = {"measured": [report_measured.measured_json(one) for one in split]} if split else {}
            rest = {"assumptions": list(assumed), "not_read": unread_json(lines)}
            designs.append({**report.design_json(path, floors), **shares, **rest})
        else:
            _echo(report.design_latex(floors) if output == "latex" else report.design_text(path, floors))
            _echo(report_measured.measured_text(split) if output == "text" else ())
            _echo((*left_out_text(assumed), *unread_text(lines)) if output == "text" else ())
    if output == "json":
        _echo_json({"designs": designs})
    return every, left_open


def _prove(target: str | None, certificates: str | None, output: str) -> int:
    from coherence.cli._progress import Progress
    from coherence.minimums.formulas import sympy
    from coherence.minimums.registry import entries, entry

    sympy("proving bounds again")
    chosen = (entry(target),) if target is not None else tuple(entries().values())
    begun, rows = time.monotonic(), []
    with Progress("proving") as bar:
        for index, registered in enumerate(chosen):
            bar(index / len(chosen), registered.bound.name)
            for number, proof in enumerate(registered.bound.proofs):
                checked = proof.run()
                rows.append((registered.bound.name, proof.how, checked))
                if certificates is not None and checked.script:
                    _write(Path(certificates), f"{registered.bound.name}-{number + 1}.smt2", checked.script)
    failed = [name for name, _, checked in rows if not checked.holds]
    cited = [one.bound.name for one in chosen if not one.bound.proofs]
    if output == "json":
        proofs = [{"bound": name, "how": how, "holds": c.holds, "said": c.words} for name, how, c in rows]
        _echo_json({"proofs": proofs, "cited": cited})
    else:
        width = max((len(name) for name, _, _ in rows), default=0)
        _echo(f"{'ok  ' if c.holds else 'FAIL'}  {name:<{width}}  {how}: {c.words}" for name, how, c in rows)
        proved = len({name for name, _, _ in rows})
        click.echo(f"{proved} bounds proved by machine, {len(cited)} cited, {len(failed)} proofs failed", nl=True)
        click.echo(f"{time.monotonic() - begun:.1f} s", err=True)
    return 1 if failed else 0


def _write(folder: Path, name: str, text: str) -> None:
    from coherence.base.output_files import write_outputs

    write_outputs(folder, {name: text.encode()})


def _echo(lines: Any) -> None:
    for line in lines:
        click.echo(line)


def _echo_json(document: dict[str, Any]) -> None:
    from coherence.base.version import VERSION

    head = {"format_version": 1, "tool": "coherence bound", "version": VERSION}
    click.echo(json.dumps({**head, **document}, indent=2, allow_nan=False))
