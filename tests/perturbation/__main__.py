"""Judges the values of designs in files and folders; what was judged before stands in a file and is not asked again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import click

from tests.perturbation.judging import Judge, Part
from tests.perturbation.outputs import COMMANDS
from tests.perturbation.written_leaves import WrittenLeaf, leaves


@click.command()
@click.argument("command", type=click.Choice(list(COMMANDS)))
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--results", type=click.Path(path_type=Path), help="JSON lines: what was judged, added to as it goes.")
@click.option(
    "--again",
    multiple=True,
    type=click.Choice([part.value for part in Part]),
    help="Judge values with this result again.",
)
@click.option("--share", default=1.0, show_default=True, help="Judge a drawn share of the values.")
@click.option("--supplied", is_flag=True, help="Judge what parts supply as well.")
@click.option("--doubt", is_flag=True, help="Change values that are named as not read, too: no answer may change.")
@click.option("--pairs/--no-pairs", default=True, show_default=True, help="Look for a value that binds instead.")
def main(
    *, command: str, paths: tuple[Path, ...], results: Path | None, again: tuple[str, ...], share: float,
    supplied: bool, pairs: bool, doubt: bool,
) -> None:  # fmt: skip
    """Prints every silent value of the designs under PATHS, and how many take part in which way."""
    known = {row: part for row, part in _known(results).items() if part not in again} if results else {}
    counts: Counter[str] = Counter()
    for path in sorted(file for name in paths for file in _files(name)):
        own = dict(
            _judged(command, path, known, share=share, supplied=supplied, pairs=pairs, doubt=doubt, results=results)
        )
        click.echo(f"{path}: {len(own)} values, {_counted(Counter(own.values()))}")
        counts += Counter(own.values())
    click.echo(f"{command}: {sum(counts.values())} values, {_counted(counts)}")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[part]} {part}" for part in (*Part, NEEDLESS, "crash", "refused") if counts[part])


NEEDLESS = "named though read"
Row = tuple[str, str, str]


def _known(results: Path) -> dict[Row, str]:
    """Returns what was judged before; of a value that was judged several times the last."""
    rows = map(json.loads, results.read_text(encoding="utf-8").splitlines() if results.exists() else ())
    return {(row["command"], row["design"], row["value"]): row["part"] for row in rows}


def _judged(
    command: str,
    path: Path,
    known: dict[Row, str],
    *,
    share: float,
    supplied: bool,
    pairs: bool,
    doubt: bool,
    results: Path | None,
) -> Iterator[tuple[str, str]]:
    """Yields the name of each value and how it takes part."""
    text = path.read_text(encoding="utf-8")
    every = leaves(text, supplied=supplied)
    drawn = Random(str(path)).sample(every, max(1, round(len(every) * share)))  # noqa: S311  (a draw of values)
    unknown = [leaf for leaf in drawn if (command, str(path), leaf.name) not in known]
    yield from ((leaf.name, known[command, str(path), leaf.name]) for leaf in drawn if leaf not in unknown)
    if not unknown:
        return
    with TemporaryDirectory() as folder:
        judge = Judge(COMMANDS[command], text, Path(folder))
        for leaf in unknown:
            part = _part(judge, leaf, pairs=pairs)
            if doubt and part == Part.NAMED and judge.changes_answers(leaf):
                part = NEEDLESS
            if part in (Part.SILENT, NEEDLESS, "crash"):
                click.echo(f"{part.upper()} {path} {leaf.name}: {leaf.text}")
            if results:
                row = {"command": command, "design": str(path), "value": leaf.name, "part": part}
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
            yield leaf.name, part


def _part(judge: Judge, leaf: WrittenLeaf, *, pairs: bool) -> str:
    if judge.before is None:
        return "refused"
    try:
        return judge.part(leaf) if pairs or judge.before.names(leaf) else judge.effect(leaf)
    except AssertionError as error:
        click.echo(str(error), err=True)
        return "crash"


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return [file for file in sorted(path.rglob("*.yaml")) if "\ncoherence:" in f"\n{file.read_text(encoding='utf-8')}"]


if __name__ == "__main__":
    main()
