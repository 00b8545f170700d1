"""Runs one command through click, and turns every error of ours into a message and an exit code."""

from __future__ import annotations

import importlib
import sys
import time
from types import FrameType
from typing import Any

import click

from coherence.base.errors import InputError, InternalError, MissingExtraError, UsageError, did_you_mean
from coherence.base.watchdog import AGAIN, STOPPED_CODE, is_delicate
from coherence.cli._help import commands, root_help
from coherence.cli._terminal import safe_output

LONGEST_WAIT = 2.0  # s that a signal to end waits for a call that must not be interrupted


class Commands(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in commands():
            return None
        name = f"{cmd_name}_" if cmd_name == "import" else cmd_name
        command: click.Command = importlib.import_module(f"coherence.cli.{name}").command
        stated = (ctx.default_map or {}).get(cmd_name, {})
        if stated:
            from coherence.cli._conduct import refuse_unknown

            refuse_unknown(cmd_name, stated, [str(param.name) for param in command.params])
        return _completed(command) if ctx.resilient_parsing else command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in commands():
            raise click.UsageError(f"there is no command '{args[0]}'; {did_you_mean(args[0], commands())}")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        formatter.write(root_help())


def _completed(command: click.Command) -> click.Command:
    """Returns a copy of the command with the options of all commands, as a shell that completes words is told them."""
    from copy import copy

    from coherence.cli._conduct import COLOURS, OF_ALL

    own = {name for param in command.params for name in param.opts}
    kinds: dict[str, click.ParamType] = {"--color": click.Choice(list(COLOURS))}  # type: ignore[type-arg, unused-ignore]
    every = (*(click.Option([name], type=kinds.get(name)) for name in OF_ALL), click.Option(["--quiet"], is_flag=True))
    completed = copy(command)
    completed.params = [*command.params, *(option for option in every if option.opts[0] not in own)]
    if isinstance(command, click.Group) and isinstance(completed, click.Group):
        completed.commands = {name: _completed(inner) for name, inner in command.commands.items()}
    return completed


def run(words: list[str]) -> int:
    """Runs one command line and returns its exit code."""
    _end_when_told()
    with safe_output():
        return _code(words)


def _main(words: list[str]) -> Any:
    """Runs a command with what all commands have in common."""
    from coherence.base.memory import memory_limit
    from coherence.base.version import VERSION
    from coherence.cli._conduct import conduct_of, conducted, defaults

    conduct = conduct_of([*words[1:], "--help"] if words[:1] == ["help"] else words)
    group = click.version_option(VERSION, "--version", "-V", prog_name="coherence")(Commands(name="coherence"))
    with conducted(conduct), memory_limit(conduct.memory):
        return group.main(
            args=conduct.words, prog_name="coherence", standalone_mode=False, default_map=defaults(commands())
        )


def _code(words: list[str]) -> int:
    try:
        code = _main(words)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        sys.stderr.write(_usage_text(error))
        return 2
    except click.Abort:
        sys.stderr.write("stopped\n")
        return STOPPED_CODE
    except InputError as error:
        sys.stderr.write(problem_blocks(error))
        return 2
    except (UsageError, MissingExtraError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except BrokenPipeError:
        return 0
    except OSError as error:
        sys.stderr.write(f"error: cannot read or write: {error.strerror or error}\n")
        return 2
    except MemoryError:
        sys.stderr.write("error: this needs more memory than there is\n  help: ask less, or allow more (--memory)\n")
        return 2
    except RecursionError:
        sys.stderr.write("error: the input is nested too deeply\n  help: flatten it\n")
        return 2
    except (InternalError, Exception) as error:  # noqa: BLE001  (the last line of defence: a message, never a traceback)
        if (code := _code_of_end(error)) is not None:
            return code
        sys.stderr.write(
            f"internal error: {type(error).__name__}: {error}\n"
            "  this is a defect of coherence; please report the input\n"
        )
        return 3


def _usage_text(error: click.ClickException) -> str:
    """Returns what click says as our own errors are said, with the page of the command that was meant."""
    message = error.format_message().strip().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    initial = message[:1].lower() if message[1:2].islower() else message[:1]
    refusal = f"error: {initial}{message[1:]}\n"
    return refusal + (f"  help: {context.command_path} --help\n" if context is not None else "")


def _code_of_end(error: BaseException) -> int | None:
    """Returns the exit code of the signal in whose handling an error arose, or None where there was none.

    Worker processes that are stopped while they start raise errors of their own from their `finally` blocks.
    """
    cause = error.__context__
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            return STOPPED_CODE
        if isinstance(cause, SystemExit) and isinstance(cause.code, int):
            return cause.code
        cause = cause.__context__
    return None


def _end_when_told() -> None:
    """Ends the process by way of its `finally` blocks at Ctrl-C and SIGTERM, so that its workers end with it.

    Amid a call that would drop the exception, or leave something half made, it waits until that is over.
    """
    import signal
    import threading

    begun: dict[int, float] = {}

    def end(number: int, frame: FrameType | None) -> None:
        if is_delicate(frame) and time.monotonic() - begun.setdefault(number, time.monotonic()) < LONGEST_WAIT:
            again = threading.Timer(AGAIN, signal.pthread_kill, [threading.main_thread().ident, number])
            again.daemon = True
            again.start()
            return
        begun.clear()
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        for number, default in ((signal.SIGTERM, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler)):
            if signal.getsignal(number) is default:
                signal.signal(number, end)


def problem_blocks(error: InputError) -> str:
    """Returns every problem of an input as text, one block each."""
    blocks = [f"error: {problem}\n" for problem in error.problems]
    return "".join(blocks) + f"{len(blocks)} problem{'s' if len(blocks) > 1 else ''}; nothing was checked\n"
