"""Reads times on the command line: a number of seconds of at least a minimum, and quantities such as `10 min`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from coherence.base.errors import UsageError


class Seconds(click.FloatRange):
    """A parameter type: a FloatRange without `nan`, which is in every range and is no limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the number of seconds.  Fails with a usage error where it is none or too small."""
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail("nan is not a number of seconds", param, ctx)
        return seconds


def time_limit_option(least: float, usual: float | None, help_: str) -> Callable[[Any], Any]:
    """Returns the option `--time-limit` of a command."""
    return click.option(
        "--time-limit", type=Seconds(least), default=usual, show_default=True, metavar="SECONDS", help=help_
    )


def seconds_of(text: str, option: str) -> float:
    """Returns the seconds of a quantity.  Raises UsageError for what is no time, or one that no float holds."""
    from coherence.base import units

    try:
        number, dimension = units.quantity(text)
    except (ValueError, units.UnitError):
        number, dimension = None, None
    if number is None or (dimension != units.SECOND and number != 0):
        raise UsageError(f"{option} {text!r} is not a time; write for example '10 min'")
    try:
        return float(number)
    except OverflowError:
        raise UsageError(f"{option} {text!r} is too long a time") from None
