"""Reads a number of seconds on the command line, refusing `nan` and numbers below a minimum."""

from __future__ import annotations

import math
from typing import Any

import click


class Seconds(click.FloatRange):
    """A parameter type: a FloatRange without `nan`, which is in every range and is no limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the number of seconds.  Fails with a usage error where it is none or too small."""
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail("nan is not a number of seconds", param, ctx)
        return seconds
