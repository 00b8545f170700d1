"""Takes what all commands have in common off a command line, and defaults from pyproject.toml."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from coherence.base.errors import UsageError, did_you_mean

COLOURS = {"auto": "", "always": "FORCE_COLOR", "never": "NO_COLOR"}
TABLE = "tool.coherence"
OF_ALL = ("--color", "--in", "--memory")  # with a value
LEAST_MEMORY, MOST_MEMORY = 64_000_000, 1 << 62
COMPARING = "diff"  # the command that has options `--in` of its own


class Conduct(NamedTuple):
    """What all commands have in common: words that are left, colours, silence, environment, memory (B)."""

    words: list[str]
    colour: str = "auto"
    quiet: bool = False
    environment: str = ""
    memory: int | None = None


def conduct_of(words: Sequence[str]) -> Conduct:
    """Returns a command line without the options of all commands, which stand anywhere before `--`.

    Raises UsageError for a value that is none.
    """
    left: list[str] = []
    quiet, waiting, values = False, list(words), dict[str, str]()
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            left += [word, *waiting]
            break
        name, _, value = word.partition("=")
        if word == "--quiet":
            quiet = True
        elif name in OF_ALL and not (name == "--in" and left[:1] == [COMPARING]):
            if name == "--in" and name in values:
                raise UsageError("--in stands twice: `coherence diff` compares two environments")
            values[name] = value or (waiting.pop(0) if waiting else "")
        else:
            left.append(word)
    colour, environment = values.get("--color", "auto"), values.get("--in", "")
    if colour not in COLOURS:
        raise UsageError(f"--color {colour}: write auto, always or never")
    if "--in" in values and not environment:
        raise UsageError("--in needs the name of an environment of the design")
    return Conduct(left, colour, quiet, environment, _bytes(values["--memory"]) if "--memory" in values else None)


def _bytes(text: str) -> int:
    """Returns the bytes of a size such as `4 GB`.  Raises UsageError."""
    from coherence.base import units

    try:
        number, dimension = units.quantity(text)
        size = int(number) if dimension == units.quantity("1 B")[1] else -1
    except (ValueError, OverflowError, units.UnitError):
        size = -1
    if size < 0:
        raise UsageError(f"--memory {text}: no size with a unit of bytes: write MB, GB or GiB, such as '4 GB'")
    if not LEAST_MEMORY <= size < MOST_MEMORY:
        raise UsageError(f"--memory {text}: write a size from 64 MB to 4 EB, such as '4 GB'")
    return size


@contextlib.contextmanager
def conducted(conduct: Conduct) -> Iterator[None]:
    """Runs a command with its colours, in its environment; a quiet one prints nothing but errors, and writes files."""
    colour, quiet = conduct.colour, conduct.quiet
    before, out = {name: os.environ.get(name) for name in ("FORCE_COLOR", "NO_COLOR")}, sys.stdout
    if colour != "auto":
        os.environ.update({"FORCE_COLOR": "", "NO_COLOR": "", COLOURS[colour]: "1"})
    chosen = _within(conduct.environment) if conduct.environment else contextlib.nullcontext()
    try:
        with open(os.devnull, "w", encoding="utf-8") if quiet else contextlib.nullcontext(out) as shown, chosen:  # noqa: PTH123
            sys.stdout = shown
            yield
    finally:
        sys.stdout = out
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _within(environment: str) -> contextlib.AbstractContextManager[None]:
    """Reads designs in an environment; without one, nothing of the language is imported."""
    from coherence.language.environments.overlay import chosen_environment

    return chosen_environment(environment)


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
