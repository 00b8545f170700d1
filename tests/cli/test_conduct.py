"""What all commands have in common: colours, silence, defaults of a project, a pipe, exit codes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coherence.base.errors import UsageError
from coherence.checking import workspace
from coherence.cli._conduct import conduct_of, conducted, defaults
from coherence.cli._help import commands
from coherence.cli._run import run

DESIGN = """\
coherence: 1
components: {web: {takes: {serve: 200 ms}}}
calls:
  - {from: users, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3}
"""
# a command with a file that is not there
MISSING = {
    "analyze": ["nosuch.yaml"], "bound": ["nosuch.yaml"], "check": ["nosuch.yaml"],
    "export": ["nosuch.yaml", "--as", "json"], "fit": ["nosuch.yaml", "--telemetry", "nosuch.csv"],
    "graph": ["nosuch.yaml"], "import": ["all", "nosuch.yaml"], "inventory": ["nosuch.yaml"],
    "region": ["nosuch.yaml", "-p", "a=1:2"], "reproduce": ["nosuch.yaml"], "simulate": ["nosuch.yaml"],
    "sweep": ["nosuch.yaml", "-p", "a=1:2"],
}  # fmt: skip


@pytest.mark.parametrize("command", sorted(commands()))
def test_every_command_says_what_it_does_with_help_alone(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: coherence")


@pytest.mark.parametrize("command", sorted(MISSING))
def test_a_missing_file_is_2_and_an_error_on_standard_error_alone(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, *MISSING[command]]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: nosuch.yaml")


@pytest.mark.parametrize("command", sorted(commands()))
def test_no_command_knows_another_colour(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--color", "pink"]) == 2
    assert "write auto, always or never" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["check", "FILE", "-s", "COH201"], ["inventory", "FILE"], ["graph", "FILE"],
                                   ["bound", "--list"], ["rules"], ["schema"], ["explain", "COH201"]])  # fmt: skip
def test_a_quiet_command_prints_nothing_and_exits_as_ever(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "d.yaml").write_text(DESIGN, encoding="utf-8")
    named = [str(tmp_path / "d.yaml") if word == "FILE" else word for word in words]
    loud = run(named)
    assert capsys.readouterr().out
    assert run([*named, "--quiet"]) == loud
    assert capsys.readouterr().out == ""


def test_common_options_stand_anywhere_before_two_dashes() -> None:
    assert conduct_of(["--color=never", "check", "a"])[0] == ["check", "a"]
    words = ["check", "--quiet", "--color", "always", "--", "--quiet"]
    assert conduct_of(words) == (["check", "--", "--quiet"], "always", True, "", None)
    assert conduct_of(["check", "a", "--in", "b"]) == (["check", "a"], "auto", False, "b", None)
    assert conduct_of(["diff", "a", "--in=b", "--in", "c"]).words == ["diff", "a", "--in=b", "--in", "c"]
    with pytest.raises(UsageError, match="--in stands twice"):
        conduct_of(["check", "a", "--in", "b", "--in=c"])
    with pytest.raises(UsageError, match="--in needs the name"):
        conduct_of(["check", "--in"])
    with pytest.raises(UsageError, match="--color :"):
        conduct_of(["check", "--color"])


def test_colours_are_those_of_the_command_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with conducted(conduct_of(["--color", "always"])):
        assert (os.environ["FORCE_COLOR"], os.environ["NO_COLOR"]) == ("1", "")
    assert os.environ["NO_COLOR"] == "1"
    assert "FORCE_COLOR" not in os.environ


def test_colours_come_and_go_with_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.yaml").write_text(DESIGN, encoding="utf-8")
    words = ["check", str(tmp_path / "d.yaml"), "-s", "COH201"]
    run([*words, "--color", "always"])
    assert "\x1b[" in capsys.readouterr().out
    run([*words, "--color", "never"])
    assert "\x1b[" not in capsys.readouterr().out


def project(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    (folder / "below").mkdir()
    (folder / "below" / "d.yaml").write_text(DESIGN, encoding="utf-8")
    monkeypatch.chdir(folder / "below")


def test_a_project_states_options_and_the_command_line_overrules_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path, '[tool.coherence.check]\nselect = ["COH201"]\nfail-on = "never"\n', monkeypatch)
    assert run(["check", "d.yaml"]) == 0
    assert "COH201" in capsys.readouterr().out
    assert run(["check", "d.yaml", "--fail-on", "conflict"]) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[tool.coherence.check]\nselct = ["COH2"]\n', "has 'selct', which is no option of it; did you mean 'select'"),
        ("[tool.coherence.chekc]\n", "no such command; did you mean 'check'"),
        ("[tool.coherence\n", "pyproject.toml"),
        ("[tool.coherence]\nselect = 1\n", "write options of a command under"),
    ],
)
def test_a_wrong_project_file_is_an_error(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path, text, monkeypatch)
    assert run(["check", "d.yaml"]) == 2
    assert message in capsys.readouterr().err


def test_the_file_of_other_tools_states_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, "[tool.ruff]\nline-length = 1\n", monkeypatch)
    assert defaults(commands()) == {}


def test_a_design_is_checked_from_a_pipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    workspace._standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DESIGN.encode())))
    assert run(["check", "-", "-s", "COH201", "-o", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert {finding["places"][0]["file"] for finding in found} == {"<stdin>"}
    workspace._standard_input.cache_clear()


def test_a_pipe_is_not_repaired(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "-", "--fix"]) == 2
    assert "are about files" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "markdown", "github"])
def test_what_is_wrong_with_an_input_is_in_every_output_for_machines(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.yaml").write_text("coherence: 1\ncomponentz: {}\n", encoding="utf-8")
    assert run(["check", str(tmp_path / "bad.yaml"), "-o", f"{form}={tmp_path / 'out'}"]) == 2
    text = (tmp_path / "out").read_text(encoding="utf-8")
    assert "COH000" in text
    assert "componentz" in text
    assert "componentz" in capsys.readouterr().err


def test_rules_have_help_in_sarif(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.yaml").write_text(DESIGN, encoding="utf-8")
    run(["check", str(tmp_path / "d.yaml"), "-s", "COH201", "-o", "sarif"])
    (rule,) = json.loads(capsys.readouterr().out)["runs"][0]["tool"]["driver"]["rules"]
    assert "Why it hurts" in rule["help"]["markdown"]


def test_a_shell_completes_commands() -> None:
    environment = {
        **os.environ,
        "_COHERENCE_COMPLETE": "bash_complete",
        "COMP_WORDS": "coherence an",
        "COMP_CWORD": "1",
    }
    done = subprocess.run([sys.executable, "-c", "from coherence.__main__ import main; main()"], env=environment,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert "analyze" in done.stdout


def test_a_run_is_given_memory_and_no_size_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert conduct_of(["rules", "--memory", "2 GB"]).memory == 2 * 10**9
    assert conduct_of(["rules", "--memory=512 MiB"]).memory == 512 * 2**20
    assert run(["rules", "--memory", "4 GB"]) == 0
    for wrong in ("2 s", "much", "1 MB", "", "-4 GB"):
        assert run(["rules", f"--memory={wrong}" if wrong else "--memory"]) == 2
        assert "such as '4 GB'" in capsys.readouterr().err


def test_a_size_without_a_unit_of_bytes_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "--memory=200M"]) == 2
    assert "no size with a unit of bytes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "--nope"], "error: no such option '--nope'"),
        (["fit"], "error: missing argument 'PATH'"),
        (["simulate", "d.yaml", "--runs", "0"], "error: invalid value for '--runs'"),
        (["chekc"], "error: there is no command 'chekc'; did you mean 'check'?"),
        (["help", "chekc"], "error: there is no command 'chekc'; did you mean 'check'?"),
    ],
)
def test_a_wrong_command_line_is_told_as_every_error_is(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith(said)
    assert all(line.startswith("  help: coherence") for line in told[1:])


def test_help_and_version_have_their_short_forms(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for words in (["help", "check"], ["check", "--help"], ["-V"], ["--version"]):
        assert run(words) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != ""
    assert shown[2] == shown[3] != ""
