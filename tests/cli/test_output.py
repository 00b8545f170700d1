"""`-o FORMAT[=FILE]`: every command puts out each format that is asked for, to a file or to standard output."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from coherence.base.errors import UsageError
from coherence.cli._help import commands
from coherence.cli._output import COMMENTS, MARKS, SIGNATURE, Output, OutputType, mark_of, output_option, put_out
from coherence.cli._run import Commands, run

DESIGN = """\
coherence: 1
components: {web: {takes: {serve: 200 ms}, servers: 4}}
workload: {users: {rate: 5 req/s}}
calls:
  - {from: users, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3, on_timeout: abandon}
"""
ANSWERING = {  # each command that answers in several formats, at its fastest
    "bound": ["erlang_loss"], "check": ["d.yaml", "-s", "COH201"], "diff": ["d.yaml", "d.yaml", "-s", "COH201"],
    "graph": ["d.yaml"], "inventory": ["d.yaml"], "rules": [], "schema": [],
    "simulate": ["d.yaml", "--for", "10 s", "--warm-up", "0 s", "--runs", "2"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "d.yaml").write_text(DESIGN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def forms_of(command: str) -> tuple[str, ...]:
    found = Commands(name="coherence").get_command(click.Context(Commands()), command)
    assert found is not None
    kinds = [param.type for param in found.params if param.name == "output"]
    assert len(kinds) == 1
    assert isinstance(kinds[0], OutputType)  # the one way in which formats are asked for
    return tuple(kinds[0].forms)


@pytest.mark.parametrize("command", sorted(ANSWERING))
def test_a_file_has_what_is_printed_and_is_written_again(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forms = forms_of(command)
    written = [word for form in forms for word in ("-o", f"{form}={form}.out")]
    code = run([command, *ANSWERING[command], *written, "-o", forms[0]])
    printed = capsys.readouterr()
    assert code in {0, 1}, printed.err
    first = (folder / f"{forms[0]}.out").read_text(encoding="utf-8")
    assert first.startswith(printed.out)
    assert all((folder / f"{form}.out").stat().st_size for form in forms)
    if "json" in forms:
        json.loads((folder / "json.out").read_text(encoding="utf-8"))
    assert run([command, *ANSWERING[command], *written]) == code
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("command", sorted(ANSWERING))
def test_what_is_wrong_with_an_output_is_said_before_anything_is_asked(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = forms_of(command)[0]
    missing = ["nosuch.yaml" if word == "d.yaml" else word for word in ANSWERING[command]]  # not even read
    theirs = folder / "theirs.json"
    theirs.write_text('{"$schema": "https://example.org/s.json", "format_version": "1.2", "tool": "terraform"}')
    foreign = [(f"{form}=d.yaml", "something else"), (f"{form}=theirs.json", "something else")]
    for word, message in (("jsn", "'jsn'"), (f"{form}=", "names no file"), *foreign):
        assert run([command, *missing, "-o", word]) == 2
        assert message in capsys.readouterr().err
    for words, message in (
        ((form, form), "both for standard output"),
        ((f"{form}=new", f"{form}=./new"), "are both for ./new: name another file"),
    ):
        assert run([command, *missing, "-o", words[0], "-o", words[1]]) == 2
        assert message in capsys.readouterr().err
    assert (folder / "d.yaml").read_text(encoding="utf-8") == DESIGN


def test_every_command_has_one_word_for_its_output() -> None:
    for name in commands():
        command = Commands(name="coherence").get_command(click.Context(Commands()), name)
        assert command is not None
        spelled = {word for param in command.params for word in param.opts}
        assert not spelled & {"--format", "--out", "--file"}, name
        assert ("--output" in spelled) == ("-o" in spelled), name


def test_every_format_but_json_is_signed_in_its_own_comments(folder: Path) -> None:
    for form, comment in COMMENTS.items():
        put_out([Output(form, f"{form}.signed")], lambda _: "content\n")
        assert (folder / f"{form}.signed").read_text(encoding="utf-8") == f"content\n{comment.format(SIGNATURE)}\n"
        assert mark_of(form) == SIGNATURE.encode()
    assert set(COMMENTS) | set(MARKS) >= {form for command in ANSWERING for form in forms_of(command)}
    put_out([Output("json", "a.json")], lambda _: '{"tool": "coherence x"}\n')
    with pytest.raises(UsageError, match="something else"):
        put_out([Output("text", "a.json")], lambda _: "content\n")


def test_the_first_format_is_printed_unless_told() -> None:
    @click.command()
    @output_option("text", "json")
    def command(output: tuple[Output, ...]) -> None:
        assert output == (Output("text"),)

    command.main([], standalone_mode=False)
