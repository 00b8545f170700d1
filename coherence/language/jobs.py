"""Declares the vocabulary of jobs that wait for resources, and of the order in which they get them."""

from __future__ import annotations

from collections.abc import Mapping

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.language.components import Component
from coherence.language.schema_kinds import Formula, Quantity, Word, key, mapping
from coherence.language.sentences import ADMISSION, PREEMPTION, Admission, Preemption
from coherence.language.value_kinds import ANY_QUANTITY, DURATION, NAME_KIND, NEEDS, VALUE, word
from coherence.language.words import CONSTANT

SUSPENDED = (
    "a victim that is suspended keeps its memory and goes on when its taker ends (Slurm's SUSPEND, gang scheduling): "
    "that is not said here; `returns` is the victim that begins again (REQUEUE), `leaves` one that is gone (CANCEL)"
)


class Job(Record):
    """A job waiting for resources.  `takes: {end: ..}` (or `leaves_after`): how long it holds them once evicted.

    `comes: again`: whenever it has ended, one like it comes.
    """

    name: str
    place: Place = plain(compare=False)
    queue: Word | None = key(NAME_KIND, means="the queue that it waits in", without="one that all such jobs share")
    needs: dict[str, Quantity] | Quantity | None = key(NEEDS, means="what it holds while it runs", without="nothing")
    priority: Quantity | None = key(
        ANY_QUANTITY, means="its priority, which orders and rules of preemption read as `job.priority`",
        without="it is asked for where a rule reads it",
    )  # fmt: skip
    age: Quantity | None = key(
        DURATION, means="how long it has waited at time 0, read as `job.age`",
        without="it is asked for where a rule reads it",
    )  # fmt: skip
    comes: Word | None = key(
        word("once", "again"), means="whether one like it comes whenever it has ended", without="once"
    )
    takes: dict[str, Quantity] | None = key(
        mapping(DURATION), without="any time",
        means="how long its activities take; `end`: how long it holds what it has once it is evicted",
    )  # fmt: skip
    constants: dict[str, Quantity | Formula | Word] = key(
        VALUE, "<constant>", rest=True, means=CONSTANT, without="there are none"
    )


def needed(owner: Component | Job) -> Mapping[str, Quantity]:
    """Returns resource -> how much one member holds; `needs: 4 cpu` names its resource."""
    needs = owner.needs
    if isinstance(needs, Quantity):
        tags = [tag for tag, _ in needs.dimension.tags.powers]
        return {tags[0]: needs} if len(tags) == 1 else {}
    return needs or {}


class Order(Record):
    """Who is admitted first, who may take from whom, and whether the victim returns: to its place by age, or where the
    order reads `job.waited` to the tail of the queue, or to its head.

    `blocked`: what the first job of the order does to those behind it while it does not fit.
    """

    admit: Admission | None = key(
        ADMISSION, without="any order is possible",
        means="who is first: `smallest e first`, `largest e first`, and `..., then smallest f first` among equals",
    )  # fmt: skip
    preempt: Preemption | None = key(
        PREEMPTION, means="who may take from whom: `for job take job where c`", without="nobody may"
    )
    victim: Word | None = key(
        word(
            "returns",
            "leaves",
            "returns, no reservation",
            "returns, reservation",
            "leaves, reservation",
            "leaves, no reservation",
            "returns to the head",
            "returns to the head, no reservation",
            "returns to the head, reservation",
            unsaid={"suspends": SUSPENDED, "is suspended": SUSPENDED, "suspended": SUSPENDED},
        ),
        means="what becomes of a job from which is taken, and whether what it held is kept for the taker",
        without="returns, no reservation",
    )
    blocked: Word | None = key(
        word("is passed", "is passed, reservation", "holds its queue", "holds all"),
        means="what the first job of the order does to those behind it while it does not fit",
        without="it is passed",
    )
