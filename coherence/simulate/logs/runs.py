"""Finds the files of one recorded run, and reads the commands that were given during it.

A run is what one `<stamp>-gethpa.log.csv` records.  Its other files stand beside it: `toppod` and `topnode` of the
same stamp, the last `command` log begun before, the first `events` written after.  The manifests that the commands
name stand in the same folder or in one of the two above.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coherence.base.csv_records import csv_records
from coherence.base.errors import InputError, Problem, UsageError
from coherence.simulate.logs.tables import line_place, unix


@dataclass(frozen=True)
class RunFiles:
    """The files of one run.  `stamp`: the local time in their names."""

    stamp: str
    autoscaler: Path
    pods: Path
    commands: Path
    events: Path
    nodes: Path | None = None

    @property
    def name(self) -> str:
        """Folder and stamp, for people."""
        return f"{self.autoscaler.parent.name}/{self.stamp}"


@dataclass(frozen=True)
class RecordedCommand:
    """A command line: Unix seconds at which it was given and at which it had returned."""

    words: tuple[str, ...]
    given: int
    done: int


def find_runs(folder: Path) -> tuple[RunFiles, ...]:
    """Returns every complete run in a folder and the folders below it, in the order of their paths."""
    runs = (_files(log) for log in sorted(folder.rglob("*-gethpa.log.csv")))
    return tuple(run for run in runs if run is not None)


def the_run(where: Path) -> RunFiles:
    """Returns the one run of a folder (not of those below it), or of a gethpa log.  Raises UsageError."""
    logs = [where] if where.is_file() else sorted(where.glob("*-gethpa.log.csv"))
    if len(logs) != 1:
        names = ", ".join(log.name for log in logs) or "none"
        raise UsageError(f"{where} should hold one run, it holds: {names}; name one *-gethpa.log.csv")
    run = _files(logs[0])
    if run is None:
        raise UsageError(f"{logs[0].name} has no toppod, command and events log beside it: a replay needs them")
    return run


def _files(log: Path) -> RunFiles | None:
    stamp = log.name.removesuffix("-gethpa.log.csv")
    pods, nodes = (log.with_name(f"{stamp}-{kind}.log.csv") for kind in ("toppod", "topnode"))
    before = [path for path in sorted(log.parent.glob("*-command-*.csv")) if path.name <= stamp + "-z"]
    after = [path for path in sorted(log.parent.glob("*-events.log.txt")) if path.name >= stamp]
    if not (pods.is_file() and before and after):
        return None
    return RunFiles(stamp, log, pods, before[-1], after[0], nodes if nodes.is_file() else None)


def read_commands(path: Path) -> tuple[RecordedCommand, ...]:
    """The commands in order.  Columns: command, keyword, start_cdt, start_utc, end_cdt, end_utc (`-`: not noted)."""
    commands: list[RecordedCommand] = []
    problems: list[Problem] = []
    for line, cells in csv_records(path, lenient=True):
        if line == 1 or not cells or cells[0] == "total_runtime":
            continue
        try:
            given = unix(cells[3])
            commands.append(
                RecordedCommand(tuple(cells[0].split()), given, given if cells[5] == "-" else unix(cells[5]))
            )
        except (ValueError, IndexError):
            place = line_place(path.name, line, ",".join(cells))
            problems.append(Problem(place, "cannot be read", "expected command, keyword and four times"))
    if problems:
        raise InputError(problems)
    return tuple(commands)


def manifest(run: RunFiles, name: str) -> Path:
    """Returns the manifest that a command of the run names.  Raises UsageError."""
    for folder in _folders(run):
        if (folder / name).is_file():
            return folder / name
    raise UsageError(f"{name} is applied in {run.commands.name} and is not in {', '.join(map(str, _folders(run)))}")


def _folders(run: RunFiles) -> tuple[Path, ...]:
    return (run.commands.parent, *list(run.commands.parent.parents)[:2])


def labels(commands: tuple[RecordedCommand, ...]) -> Iterator[tuple[str, str, str]]:
    """Yields (node, key, value) of every `kubectl label nodes <node> <key>=<value>`."""
    for command in commands:
        match command.words:
            case ("kubectl", "label", "nodes", node, label) if "=" in label:
                yield (node, *label.split("=", 1))  # type: ignore[misc]
