"""Declares what flows and expressions may read of a run while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

from coherence.language.expressions.tree import Tree
from coherence.model.model import Model
from coherence.simulate.execute.history import History
from coherence.simulate.execute.instants import Instant
from coherence.simulate.execute.lookback import Lookback

Num = Any  # Fraction, Affine, float, or an array of floats


class RunState(Protocol):
    """A run at its present time; `exact.Execution` is one."""

    @property
    def model(self) -> Model: ...
    @property
    def time(self) -> Fraction: ...
    @property
    def values(self) -> dict[str, Num]: ...
    @property
    def flowing(self) -> Mapping[str, Tree]: ...
    @property
    def lookback(self) -> Lookback: ...
    @property
    def watched(self) -> tuple[Tree, ...]: ...
    @property
    def history(self) -> History: ...
    @property
    def horizon(self) -> Fraction | None: ...
    @property
    def origin(self) -> dict[str, Num]: ...
    @property
    def course(self) -> Any: ...
    @property
    def motion(self) -> Any: ...
    @property
    def memory(self) -> Mapping[str, Any]: ...
    @property
    def watch(self) -> Any: ...
    @property
    def sums(self) -> dict[Any, Any]: ...

    def base(self) -> dict[str, Num]:
        """Returns states, commands and modes as they are now."""

    def output(self, path: str) -> Tree:
        """Returns the expression of an output."""

    def sampled_at(self, time: Fraction, loop: str = "") -> Any:
        """Returns the world at a time as a sample then saw it."""

    def view_at(self, time: Fraction, now: Any) -> Any:
        """Returns the world at an earlier time."""

    def course_from(self, time: Fraction) -> Any:
        """Returns the motion that goes on just after a time."""

    def course_at(self, time: Fraction, anchor: Fraction | None = None) -> tuple[dict[str, Num], Mapping[str, Num]]:
        """Returns (values, slopes) just after a time."""


class RunObserver(Protocol):
    """Sees the whole of a run: each instant, and before it the time since the last."""

    def pass_time(self, run: Any, end: Fraction) -> None:
        """Sees the time from the last instant of a run to `end`, before which there is no other."""

    def see(self, run: Any, instant: Instant) -> None:
        """Sees an instant that was just executed, or a look at a time at which nothing happens."""
