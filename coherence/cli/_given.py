"""Refuses options that were given and would have no effect."""

from __future__ import annotations

from collections.abc import Sequence

import click

from coherence.base.errors import UsageError


def refuse_given(names: Sequence[str], why: str) -> None:
    """Raises UsageError that names those of the parameters that stand on the command line.

    names: parameters of the running command, as its function calls them.  why: reason and remedy.
    """
    context = click.get_current_context()
    stated = click.core.ParameterSource.COMMANDLINE
    given = [_spelling(param) for param in context.command.params
             if param.name in names and context.get_parameter_source(param.name) is stated]  # fmt: skip
    if given:
        raise UsageError(f"{' and '.join(given)} would have no effect: {why}")


def _spelling(parameter: click.Parameter) -> str:
    """Returns `--name`, or `NAME` of an argument."""
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else str(parameter.name).upper()
