"""Declares the vocabulary of components: the things that loops act on."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.base.units import ONE
from coherence.language.infrastructure import Hosting
from coherence.language.schema_kinds import Formula, Quantity, Word, either, key, mapping, record
from coherence.language.value_kinds import (
    AMOUNT,
    ANY_QUANTITY,
    CARRIES,
    DURATION,
    MEMBERS,
    NAME_KIND,
    NEEDS,
    PERIOD,
    TEXT,
    VALUE,
    VIA,
    quantity,
    word,
)
from coherence.language.words import ACTIVITIES, CASES, CONSTANT, NOTE, PART, WHOLE_STANDS_HERE, render_table

DISCIPLINES = ("fifo", "lifo", "priority", "preemptive", "preemptive repeat")


class Component(Record):
    """A thing that loops act on: members, activities, capacities, an inline plant, constants and outputs.

    `constants` holds every other key: a value, a range, or an expression that is an output.
    """

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses", means=PART, without=WHOLE_STANDS_HERE)
    copies: Quantity | Formula | None = key(
        MEMBERS, means="how many members it has, all alike", without="a loop writes it, or it is asked for"
    )
    count: Quantity | None = key(
        AMOUNT, means="how many units of a capacity it is; its name is then a counter (`4 cpu`)",
        without="it is no capacity",
    )  # fmt: skip
    needs: dict[str, Quantity] | Quantity | None = key(
        NEEDS, means="what each member holds while it is there", without="nothing"
    )
    returns: Word | None = key(
        TEXT, means="whether a member that was removed comes back: `always`, `never`, `after 5 s`",
        without="it is asked for where an answer rests on it",
    )  # fmt: skip
    takes: dict[str, Quantity] | None = key(
        mapping(DURATION), without="it has none",
        means="its activities, and how long each takes; a range is drawn anew at each start of each member",
    )  # fmt: skip
    roles: dict[str, Word] | None = key(
        mapping(word(*ACTIVITIES)), without="the name of an activity says it",
        means=f"what its activities are to a caller; understood by name: {render_table(ACTIVITIES)}",
    )  # fmt: skip
    state: Word | None = key(
        TEXT, means="a plant in one line: `p' = expression`; the next value with `step`, else the derivative",
        without="it has no state of its own",
    )  # fmt: skip
    step: Quantity | None = key(
        PERIOD, means="the time from one value of `state` to the next; the first step ends the instant 0",
        without="`state` flows",
    )  # fmt: skip
    initial: Quantity | None = key(
        ANY_QUANTITY,
        "from",
        means="the value of `state` at time 0",
        without="proofs hold for every start; runs at rest",
    )
    runs_on: Word | Hosting | None = key(
        either(record(Hosting), NAME_KIND), means="the tier whose devices its members hold", without="no tier"
    )
    carries: Quantity | None = key(
        CARRIES, means="the bytes that one request brings over links from the queue that serves it before",
        without="it is asked for where a link is between",
    )  # fmt: skip
    via: tuple[Word, ...] = key(
        VIA,
        many=True,
        means="the ends of links by which they go",
        without="the way with the fewest links, if it is one",
    )
    measured_in: Word | None = key(
        NAME_KIND, means="the boundary inside which its rates were measured: its share is in them",
        without="its rates are those of whole devices",
    )  # fmt: skip
    discipline: Word | None = key(
        word(*DISCIPLINES), without="first come (`fifo`)",
        means="whose turn it is among the requests that wait: first come (fifo), last come (lifo), or those of "
        "workloads with a higher `priority`; preemptive: they take a member from a lower one, which later goes on with "
        "what is left, or (preemptive repeat) begins again",
    )  # fmt: skip
    cases: dict[str, Quantity] | None = key(
        mapping(quantity(ONE, low=0)), means=CASES, without="proofs hold for any; a run of calls with cases needs them"
    )
    note: Word | None = key(TEXT, means=NOTE, for_people=True)
    constants: dict[str, Quantity | Formula | Word] = key(
        VALUE, "<constant>", rest=True, means=CONSTANT, without="there are none"
    )
