"""Handles breakers that open after failures in the event loop: closed, open for a time, half open for trials.

SOURCE: Resilience4j 2.2, CircuitBreakerStateMachine, CircuitBreakerMetrics: a permission is asked for at each call; the
first one after the wait makes it half open; an answer counts in the state in which it comes.
"""

from __future__ import annotations

from coherence.simulate.requests.compiled import inlined
from coherence.simulate.requests.events_layout import (
    CIRCUIT,
    CIRCUIT_CLOSED,
    CIRCUIT_COUNTED,
    CIRCUIT_FAILED,
    CIRCUIT_HALF_OPEN,
    CIRCUIT_LAST,
    CIRCUIT_LEAST,
    CIRCUIT_NEXT,
    CIRCUIT_OPEN,
    CIRCUIT_OPEN_FOR,
    CIRCUIT_PERMITS,
    CIRCUIT_RING,
    CIRCUIT_SHARE,
    CIRCUIT_STATE,
    CIRCUIT_TRIALS,
    CIRCUIT_UNTIL,
    NOTHING,
    NOW,
    Floats,
    Ints,
)

SLIGHT = 1e-9  # of an outcome: a product of floats that is a whole number for people is one here


@inlined
def permits(n: Ints, x: Floats, route: int) -> bool:
    """Returns whether the breaker of a route lets a try through; a trial takes one of its permits."""
    own = n[route + CIRCUIT]
    if own == NOTHING or n[own + CIRCUIT_STATE] == CIRCUIT_CLOSED:
        return True
    if n[own + CIRCUIT_STATE] == CIRCUIT_OPEN:
        if x[NOW] <= x[own + CIRCUIT_UNTIL]:
            return False
        turn(n, own, CIRCUIT_HALF_OPEN)
    if n[own + CIRCUIT_PERMITS] == 0:
        return False
    n[own + CIRCUIT_PERMITS] -= 1
    return True


@inlined
def turn(n: Ints, own: int, state: int) -> None:
    """A breaker goes to a state, in which it counts from nothing."""
    n[own + CIRCUIT_STATE], n[own + CIRCUIT_PERMITS] = state, n[own + CIRCUIT_TRIALS]
    n[own + CIRCUIT_COUNTED], n[own + CIRCUIT_FAILED], n[own + CIRCUIT_NEXT] = 0, 0, 0


@inlined
def give_back(n: Ints, route: int) -> None:
    """A try that was given up with its call counts for nothing: another one may be the trial."""
    own = n[route + CIRCUIT]
    if own != NOTHING and n[own + CIRCUIT_STATE] == CIRCUIT_HALF_OPEN:
        n[own + CIRCUIT_PERMITS] += 1


@inlined
def note_outcome(n: Ints, x: Floats, route: int, failure: int) -> None:
    """An outcome of a try (1: it failed) among the last ones of the breaker, which may open or close at it."""
    own = n[route + CIRCUIT]
    if own == NOTHING or n[own + CIRCUIT_STATE] == CIRCUIT_OPEN:
        return
    half = n[own + CIRCUIT_STATE] == CIRCUIT_HALF_OPEN
    size = n[own + (CIRCUIT_TRIALS if half else CIRCUIT_LAST)]
    place = own + CIRCUIT_RING + n[own + CIRCUIT_NEXT]
    if n[own + CIRCUIT_COUNTED] == size:
        n[own + CIRCUIT_FAILED] -= n[place]
    else:
        n[own + CIRCUIT_COUNTED] += 1
    n[place] = failure
    n[own + CIRCUIT_FAILED] += failure
    n[own + CIRCUIT_NEXT] = (n[own + CIRCUIT_NEXT] + 1) % size
    if n[own + CIRCUIT_COUNTED] < min(size, n[own + CIRCUIT_LEAST]):
        return
    if n[own + CIRCUIT_FAILED] >= x[own + CIRCUIT_SHARE] * n[own + CIRCUIT_COUNTED] - SLIGHT:
        turn(n, own, CIRCUIT_OPEN)
        x[own + CIRCUIT_UNTIL] = x[NOW] + x[own + CIRCUIT_OPEN_FOR]
    elif half:
        turn(n, own, CIRCUIT_CLOSED)
