"""Declares what a run of inference servers changes, as arrays for compiled functions.

A field is of requests (one number each, shared by all copies of a server), of one copy, or of the whole run.
In `Copies` what is of one copy has a row for each; `copy_of` gives the state of one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coherence.simulate.requests.compiled import compiled

Array = Any  # numpy arrays of float64 or int64

# places in CopyState.count: of one copy
RUNNING, WAITING, HEAD, TAIL, FREE, STEPS, PREFILLED, WRITTEN = range(8)
COUNTS = 8
# places in Copies.turn: of the whole run
NEXT, SAMPLES, LAST = range(3)
TURNS = 3
# columns of a sample
COLUMNS = ("time", "running", "waiting", "blocks", "prefilled", "written")
NONE = -1


class Rules(NamedTuple):
    """`InferenceServer` as numbers."""

    sequences: int
    tokens: int
    block: int
    blocks: int
    mixed: bool
    whole: bool  # a request is admitted when all its tokens fit
    caching: bool
    together: bool  # copies take their steps together


class Cost(NamedTuple):
    """`StepTime` as numbers; `experts`: seconds by tokens of a step."""

    fixed: float
    prefill: float
    sequence: float
    context: float
    experts: Array


# What is known of each request: one array of records, since a compiled function that is handed many arrays is slow.
# Times are not a number before they have come.
REQUEST = np.dtype(
    list(
        {
            "arrival": float,
            "prompt": int,
            "output": int,
            "given": int,  # tokens that come with the request, already computed elsewhere
            "computed": int,  # tokens in the cache
            "written": int,  # tokens written so far
            "held": int,  # blocks
            "scheduled": float,
            "first": float,
            "last": float,
            "preempted": int,  # how often
            "repeated": int,  # tokens computed again
            "lost": int,  # tokens that were computed when it was preempted last
            "cached": int,  # prompt tokens that were in the cache when it was first scheduled
            "behind": int,  # who waits behind it
            "offset": int,  # its first place in BlockNames.table
            "shared": int,  # blocks at its head that have names
            "named": int,  # the place of its first name in BlockNames.names
        }.items()
    )
)


class BlockNames(NamedTuple):
    """What blocks hold, of all copies: `names` of shared blocks by request, and the block at each of its places."""

    names: Array
    table: Array


class CopyState(NamedTuple):
    """The requests, and what is of one copy."""

    of: Array  # of REQUEST
    names: BlockNames
    running: Array  # requests in order of admission
    planned: Array  # tokens of this step
    count: Array
    clock: Array  # now
    content: Array  # what each block holds: a name, a place in the table behind all names, or NONE
    users: Array  # requests that use a block
    before: Array  # free blocks in order of use, a ring through the place behind the last block
    after: Array
    where: Array  # the block that holds a name, or NONE


class Copies(NamedTuple):
    """All copies: the fields of `CopyState` that are of one have a row for each."""

    of: Array  # of REQUEST
    names: BlockNames
    running: Array
    planned: Array
    count: Array
    clock: Array
    content: Array
    users: Array
    before: Array
    after: Array
    where: Array
    turn: Array
    sampling: Array  # time of the next sample, time between samples
    pauses: Array  # rows of begin, end


@compiled
def copy_of(fleet: Copies, copy: int) -> CopyState:
    """Returns the state of one copy."""
    return CopyState(
        fleet.of,
        fleet.names,
        fleet.running[copy],
        fleet.planned[copy],
        fleet.count[copy],
        fleet.clock[copy],
        fleet.content[copy],
        fleet.users[copy],
        fleet.before[copy],
        fleet.after[copy],
        fleet.where[copy],
    )
