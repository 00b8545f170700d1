"""Switches states at the crossings of their conditions: relays in continuous time.

A switch looks at its conditions just after an instant, in the course that goes on from there (a tie goes where the
slopes lead); the course has an instant wherever one of them turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from coherence.language.expressions.evaluate import evaluate
from coherence.model.model import StateSwitch
from coherence.simulate.execute.motion import FlowView, SlidingError

MOST_ROUNDS = 8  # switches that make others switch, at one time


class SwitchingRun(Protocol):
    """A run whose states switch; `exact.Execution` is one."""

    values: dict[str, Any]
    course: Any

    @property
    def switching(self) -> Mapping[str, StateSwitch]: ...
    @property
    def motion(self) -> Any: ...


def switch(run: SwitchingRun, slack: float) -> list[tuple[str, bool]]:
    """Switches what is to switch now, settles the course anew, and returns the modes that are on or off with that.

    Raises SlidingError where a state would switch back at once.
    """
    switched: dict[str, bool] = {}
    for _ in range(MOST_ROUNDS):
        view = run.motion.just_after(run, slack)
        changes = {path: on for path in run.switching if (on := is_on(run, path, view)) is not None}
        if not changes:
            return [(path, on) for path, on in switched.items() if run.switching[path].leave is not None]
        for path, on in changes.items():
            relay = run.switching[path]
            value = relay.on if on or relay.off is None else relay.off
            run.values[path] = run.motion.number(value)
        switched |= changes
        run.course = run.motion.settle(run, slack)
    raise SlidingError(f"{', '.join(switched)}: each way of switching makes it switch back at once")


def is_on(run: SwitchingRun, path: str, view: FlowView) -> bool | None:
    """Returns whether a state is on from now; None where it stays as it is."""
    relay = run.switching[path]
    was = bool(run.values[path] == relay.on)
    enters = bool(evaluate(relay.enter, view))
    leaves = was and relay.leave is not None and bool(evaluate(relay.leave, view))
    on = enters or (was and not leaves)
    return on if on is not was else None
