"""Makes the one solver of linear programs, HiGHS, so that it writes nothing to standard output."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any


def linear_solver(options: Iterable[tuple[str, Any]]) -> Any:
    """Returns a solver of linear programs with these options, silent.

    highspy 1.16 prints its banner where callbacks are enabled, before any option can be set: reports in JSON on
    standard output were not JSON any more.  No callback is used here.
    """
    solver = _without_callbacks()()
    for option, value in (("output_flag", False), ("threads", 1), *options):
        solver.setOptionValue(option, value)
    return solver


@cache
def _without_callbacks() -> type[Any]:
    import highspy

    return type("Solver", (highspy.Highs,), {"enableCallbacks": lambda _: None})
