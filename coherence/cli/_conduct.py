"""Takes what all commands have in common off a command line: colours, silence, and defaults from pyproject.toml."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from coherence.base.errors import UsageError, did_you_mean

COLOURS = {"auto": "", "always": "FORCE_COLOR", "never": "NO_COLOR"}
TABLE = "tool.coherence"


Conduct: TypeAlias = tuple[list[str], str, bool]  # words that are left, when there are colours, whether it is quiet


def conduct_of(words: Sequence[str]) -> Conduct:
    """Returns a command line without `--color WHEN` and `--quiet`, which stand anywhere before `--`.

    Raises UsageError for another WHEN.
    """
    left: list[str] = []
    colour, quiet, waiting = "auto", False, list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            left += [word, *waiting]
            break
        if word == "--quiet":
            quiet = True
        elif word == "--color" or word.startswith("--color="):
            colour = word.partition("=")[2] or (waiting.pop(0) if waiting else "")
        else:
            left.append(word)
    if colour not in COLOURS:
        raise UsageError(f"--color {colour}: write auto, always or never")
    return left, colour, quiet


@contextlib.contextmanager
def conducted(conduct: Conduct) -> Iterator[None]:
    """Runs a command with its colours; a quiet one prints nothing but errors, and writes its files."""
    _, colour, quiet = conduct
    before, out = {name: os.environ.get(name) for name in ("FORCE_COLOR", "NO_COLOR")}, sys.stdout
    if colour != "auto":
        os.environ.update({"FORCE_COLOR": "", "NO_COLOR": "", COLOURS[colour]: "1"})
    try:
        with open(os.devnull, "w", encoding="utf-8") if quiet else contextlib.nullcontext(out) as shown:  # noqa: PTH123
            sys.stdout = shown
            yield
    finally:
        sys.stdout = out
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def defaults(commands: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options in `[tool.coherence.COMMAND]` of the nearest pyproject.toml.  Raises UsageError.

    commands: the names of the commands.  A file of another tool alone, or none, gives nothing.
    """
    folder = os.getcwd()  # noqa: PTH109  (pathlib costs 5 ms of a policy check)
    while True:
        file = os.path.join(folder, "pyproject.toml")  # noqa: PTH118
        if os.path.isfile(file):  # noqa: PTH113
            return _options(file, commands)
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return {}
        folder = above


def _options(file: str, commands: Mapping[str, Any]) -> dict[str, Any]:
    with open(file, "rb") as content:  # noqa: PTH123
        data = content.read()
    if TABLE.encode() not in data:
        return {}
    import tomllib

    try:
        tables = tomllib.loads(data.decode()).get("tool", {}).get("coherence", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {error}") from None
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise UsageError(f"{file}: write options of a command under [{TABLE}.check]")
    unknown = [name for name in tables if name not in commands]
    if unknown:
        raise UsageError(f"{file}: [{TABLE}.{unknown[0]}]: no such command; {did_you_mean(unknown[0], commands)}")
    return {name: {key.replace("-", "_"): value for key, value in table.items()} for name, table in tables.items()}


def refuse_unknown(command: str, options: Mapping[str, Any], parameters: Sequence[str]) -> None:
    """Raises UsageError for a default that is no option of the command."""
    for key in options:
        if key not in parameters:
            near = did_you_mean(key, parameters)
            raise UsageError(f"pyproject.toml: [{TABLE}.{command}] has '{key}', which is no option of it; {near}")
