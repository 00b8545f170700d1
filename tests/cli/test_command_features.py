"""One table of command x feature: each cell is tried, and docs/commands.md is written from the same rows.

`python -m tests.cli.test_command_features` prints the table, and with `--update` writes it into the page.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete

from coherence.checking import workspace
from coherence.cli._help import commands
from coherence.cli._output import OutputType
from coherence.cli._progress import Progress
from coherence.cli._run import Commands, run
from coherence.cli._width import COLOUR, FENCE, KEPT
from coherence.door.output_schemas import FORMS
from tests.cli.command_rows import CALL, FILES, ROWS, CommandRow
from tests.paths import ROOT

PAGE = ROOT / "docs" / "commands.md"
COLUMNS = 60
OF_ALL = ("--color", "--in", "--memory", "--quiet")


def command_of(name: str) -> click.Command:
    command = Commands(name="coherence").get_command(click.Context(Commands()), name)
    assert command is not None
    return command


def forms_of(name: str) -> tuple[str, ...]:
    kinds = [param.type for param in command_of(name).params if isinstance(param.type, OutputType)]
    return tuple(kinds[0].forms) if kinds else ()


def rows(*features: str) -> list[Any]:
    """Returns the commands that have all these features, as parameters of a test."""
    names = [name for name, row in ROWS.items() if not any(feature in row.lacks for feature in features)]
    return [pytest.param(name, marks=pytest.mark.slow) if ROWS[name].slow else name for name in names]


def lacking(feature: str) -> list[str]:
    return [name for name, row in ROWS.items() if feature in row.lacks]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Ran:
    """A command line that was run: its exit code, what it printed, and the bars that it drew."""

    def __init__(self, code: int, out: str, error: str, bars: list[str]) -> None:
        self.code, self.out, self.error, self.bars = code, out, error, bars


Runner = Callable[..., Ran]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Runner]:
    """Runs words of a command among the files of the table, on a terminal or not, with bytes on standard input."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    shipped = tmp_path / "specs" / "one"
    shipped.mkdir(parents=True)
    (shipped / "design.yaml").write_text(CALL, encoding="utf-8")
    (shipped / "expected.yaml").write_text("findings: [{code: COH201, verdict: conflict}]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    bars: list[str] = []

    def entered(bar: Progress) -> Progress:
        bars.append(bar.label)
        bar.shown = False
        return bar

    monkeypatch.setattr(Progress, "__enter__", entered)

    def ran(name: str, *words: str, terminal: bool = False, piped: str = "") -> Ran:
        if name == "demo":
            monkeypatch.setattr("coherence.language.catalogue.shipped", lambda folder: tmp_path / folder)
        if name == "init":
            (tmp_path / "new.yaml").unlink(missing_ok=True)
        workspace._standard_input.cache_clear()
        bars.clear()
        capsys.readouterr()
        with monkeypatch.context() as patched:
            out, error = (Terminal(), Terminal()) if terminal else (sys.stdout, sys.stderr)
            patched.setattr(sys, "stdout", out)
            patched.setattr(sys, "stderr", error)
            if piped:
                patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped.encode())))
            code = run([name, *words])
        shown = (
            (out.getvalue(), error.getvalue()) if isinstance(out, Terminal) and isinstance(error, Terminal) else None
        )
        return Ran(code, *(shown or capsys.readouterr()), [*bars])

    yield ran
    workspace._standard_input.cache_clear()


def words_of(name: str) -> list[str]:
    return ROWS[name].words.split()


def test_every_command_has_a_row() -> None:
    assert list(ROWS) == sorted(commands())


@pytest.mark.parametrize("name", rows())
def test_a_terminal_is_given_short_lines_a_bar_no_unwanted_colours_and_nothing_where_it_is_to_be_quiet(
    name: str, runs: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    shown = runs(name, *words_of(name), terminal=True)
    assert shown.code in (0, *ROWS[name].codes), shown.error
    assert "\x1b" not in shown.out + shown.error
    assert bool(shown.bars) is ("progress" not in ROWS[name].lacks)
    if "formats" in ROWS[name].lacks or forms_of(name)[0] == "text":
        assert [line for line in too_long(shown.out) if not KEPT.match(line)] == []
    if "quiet" not in ROWS[name].lacks:
        assert bool(shown.out) is (name != "watch")  # which writes a file here
        silent = runs(name, *words_of(name), "--quiet")
        assert (silent.out, silent.code) == ("", shown.code)


def too_long(text: str) -> Iterator[str]:
    """Yields the lines of several words that are wider than the terminal, but those between fences."""
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith(FENCE)
        if not fenced and len(line) > COLUMNS and " " in line.strip():
            yield line


@pytest.mark.parametrize("name", rows("pipe"))
def test_a_design_is_read_from_a_pipe(name: str, runs: Runner) -> None:
    words = words_of(name)
    (file,) = {word for word in words if word in FILES and not word.endswith(".csv")}
    at = words.index(file)
    shown = runs(name, *words[:at], "-", *words[at + 1 :], piped=FILES[file])
    assert shown.code == 0, shown.error


@pytest.mark.parametrize(
    ("name", "code"), [(name, code) for name, row in ROWS.items() for code in row.codes if row.codes[code].words]
)
def test_an_exit_code_says_what_the_table_says(name: str, code: int, runs: Runner) -> None:
    row = ROWS[name].codes[code]
    shown = runs(name, *row.words.split())
    assert shown.code == code, shown.out + shown.error
    assert code != 2 or shown.error.startswith("error: ")


@pytest.mark.parametrize("name", rows("problems"))
def test_what_is_wrong_with_an_input_is_in_the_output_for_machines(name: str, runs: Runner) -> None:
    words = [word if word not in ("d.yaml", "t.csv") else "bad.yaml" for word in words_of(name)]
    shown = runs(name, *words, "-o", "json=problems.json")
    assert shown.code == 2, shown.out
    document = json.loads(Path("problems.json").read_text(encoding="utf-8"))
    places = [problem["place"] for problem in document.get("problems", ())] or document["findings"][0]["places"]
    assert places[0]["file"] == "bad.yaml"


def test_a_command_with_json_has_its_schema_and_no_other() -> None:
    having = {name for name in ROWS if "json" in forms_of(name)}
    assert having - {"schema"} == set(FORMS)
    assert having - {"schema"} == set(ROWS) - set(lacking("json"))
    assert {name for name in ROWS if forms_of(name)} == set(ROWS) - set(lacking("formats"))


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_shell_completes_options_and_formats(name: str) -> None:
    completed = ShellComplete(Commands(name="coherence"), {}, "coherence", "_COHERENCE_COMPLETE")
    inner = [*words_of(name)[:1]] if name == "baseline" else []
    options = {item.value for item in completed.get_completions([name, *inner], "--")}
    assert {param.opts[0] for param in command_of(name).params if param.opts[0].startswith("--")} <= options
    assert set(OF_ALL) <= options
    if forms_of(name):
        assert {item.value for item in completed.get_completions([name, "-o"], "")} == set(forms_of(name))


@pytest.mark.parametrize("name", sorted(set(ROWS) - {"lsp"}))
def test_a_project_states_no_option_that_a_command_does_not_have(name: str, runs: Runner) -> None:
    Path("pyproject.toml").write_text(f"[tool.coherence.{name}]\nnosuch = 1\n", encoding="utf-8")
    shown = runs(name, *words_of(name))
    assert (shown.code, shown.out) == (2, "")
    assert f"[tool.coherence.{name}] has 'nosuch'" in shown.error


def cell(name: str, row: CommandRow, feature: str) -> str:
    """Returns what the page says in a cell."""
    if feature in row.lacks:
        return f"- ({row.lacks[feature]})"
    return ", ".join(forms_of(name)) if feature == "formats" else "yes"


HEADS: Mapping[str, str] = {
    "formats": "`-o FORMAT[=FILE]`", "json": "JSON with a schema", "problems": "input errors in it",
    "progress": "progress", "pipe": "`-` from a pipe", "quiet": "`--quiet`",
}  # fmt: skip


def table() -> str:
    lines = [f"| command | {' | '.join(HEADS.values())} | exit codes but 0, 2 (input) and 130 (Ctrl-C) |"]
    lines.append("| --- " * (len(HEADS) + 2) + "|")
    for name, row in ROWS.items():
        codes = "; ".join(f"{code} {row.codes[code].means}" for code in row.codes if code != 2)
        cells = [f"`{name}`", *(cell(name, row, feature) for feature in HEADS), codes or "-"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def page() -> tuple[str, str]:
    """Returns the words before the table, and the table of the page."""
    head, bar, rest = PAGE.read_text(encoding="utf-8").partition("| command |")
    return head, bar + rest


def test_the_page_has_the_table() -> None:
    assert page()[1] == table(), "run python -m tests.cli.test_command_features --update"


def test_json_of_the_table_is_json(runs: Runner) -> None:
    for name in ("rules", "inventory", "check"):
        json.loads(runs(name, *words_of(name), "-o", "json").out)
        assert not COLOUR.search(runs(name, *words_of(name), "--color", "never").out)


if __name__ == "__main__":
    if "--update" in sys.argv[1:]:
        PAGE.write_text(page()[0] + table(), encoding="utf-8")
    else:
        print(table(), end="")  # noqa: T201  (a list for people)
