"""Takes `-o FORMAT[=FILE]` off a command line, and puts out what a command answers in each of the formats."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from coherence.base.errors import InputError, did_you_mean
from coherence.cli._terminal import is_coloured
from coherence.cli._width import terminal_width, wrapped

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SIGNATURE = "written by `coherence`"
COMMENTS = {
    "text": "# {}", "concise": "# {}", "github": "# {}", "latex": "% {}", "mermaid": "%% {}", "dot": "// {}",
    "markdown": "<!-- {} -->", "graphml": "<!-- {} -->", "svg": "<!-- {} -->", "junit": "<!-- {} -->",
}  # fmt: skip
MARKS = {  # of what has no comments
    "json": (b'"tool": "coherence', b'"title": "coherence design"', b'"title": "what `coherence'),
    "sarif": (b'"name": "coherence"',),
    "csv": (b"bound,unit,kind,",),
}


@dataclass(frozen=True)
class Output:
    """A format, and the file that it goes to; None is standard output."""

    form: str
    file: str | None = None


class OutputType(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """`FORMAT` or `FORMAT=FILE`, of the formats of one command."""

    name = "format"

    def __init__(self, forms: Sequence[str]) -> None:
        self.forms = forms

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Output:
        """Returns the output.  Raises click.BadParameter for another format, UsageError for a file that is not ours."""
        if isinstance(value, Output):
            return value
        form, equals, file = str(value).partition("=")
        if form not in self.forms:
            near = did_you_mean(form, self.forms)
            self.fail(f"'{form}' is no format of this command: {', '.join(self.forms)}; {near}", param, ctx)
        if not equals:
            return Output(form)
        if not file:
            self.fail(f"'{value}' names no file: write {form}=FILE, or {form} for standard output", param, ctx)
        from coherence.base.output_files import refuse_foreign

        refuse_foreign(file, mark=mark_of(form))
        return Output(form, file)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Returns the formats that begin so, for a shell."""
        from click.shell_completion import CompletionItem

        del ctx, param
        return [CompletionItem(form) for form in self.forms if form.startswith(incomplete)]


Problems: TypeAlias = Callable[[InputError, Sequence[Output], str], None]


def output_option(
    *forms: str, problems: Problems | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Returns the option `--output`, with the formats of a command; the first is what it prints unless told.

    problems: writes what is wrong with an input to the outputs; JSON has it unless told.
    """
    option = click.option(
        "--output", "-o", multiple=True, type=OutputType(forms), default=forms[:1], show_default=forms[0],
        metavar="FORMAT[=FILE]", callback=_apart, help=f"{', '.join(forms[:-1])} or {forms[-1]}; repeatable.",
    )  # fmt: skip

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def answered(*words: Any, **options: Any) -> Any:
            try:
                return command(*words, **options)
            except InputError as error:
                name = click.get_current_context().info_name or ""
                (problems or _put_out_problems)(error, options["output"], name)
                raise

        return option(answered)

    return decorate


def _put_out_problems(error: InputError, outputs: Sequence[Output], command: str) -> None:
    """Writes what is wrong with an input to the outputs as JSON; the error goes on to standard error."""
    machines = [output for output in outputs if output.form == "json"]
    if machines:
        import json

        from coherence.door.result import head
        from coherence.reporting.json_ import place_json

        rows = [
            {"place": place_json(problem.place), "message": problem.message, "remedy": problem.remedy}
            for problem in error.problems
        ]
        put_out(machines, lambda _: json.dumps({**head(command), "problems": rows}, indent=2) + "\n")


def _apart(context: click.Context, parameter: click.Parameter, outputs: tuple[Output, ...]) -> tuple[Output, ...]:
    """Returns the outputs as they are.  Raises click.BadParameter where two of them have the same place."""
    for number, output in enumerate(outputs):
        for other in outputs[:number]:
            if output.file is None and other.file is None:
                words = f"{other.form} and {output.form} are both for standard output: write one as {output.form}=FILE"
                raise click.BadParameter(words, context, parameter)
            if output.file and other.file and os.path.realpath(output.file) == os.path.realpath(other.file):
                words = f"{other.form} and {output.form} are both for {output.file}: name another file for one of them"
                raise click.BadParameter(words, context, parameter)
    return outputs


def put_out(outputs: Sequence[Output], rendered: Callable[[str], str]) -> None:
    """Prints each output, or writes it to its file.  rendered: what stands in a format.  Raises UsageError.

    Text may have colours: they go to a terminal alone.
    """
    for output in outputs:
        content = rendered(output.form)
        if output.file is None:
            content = wrapped(content, terminal_width()) if output.form == "text" else content
            click.echo(content, nl=False, color=is_coloured(sys.stdout) or None)
            continue
        from coherence.base.output_files import write_output

        write_output(output.file, _signed(output.form, content).encode(), mark=mark_of(output.form))


def _signed(form: str, content: str) -> str:
    """Returns the content of a file, without colours, and with our signature where the format has comments."""
    if form in MARKS:
        return content
    return f"{click.unstyle(content) if form == 'text' else content}{COMMENTS[form].format(SIGNATURE)}\n"


def mark_of(form: str) -> bytes | tuple[bytes, ...]:
    """Returns what stands in every file of the format that a command wrote."""
    return MARKS.get(form, SIGNATURE.encode())
