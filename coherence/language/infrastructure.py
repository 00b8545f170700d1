"""Declares the vocabulary of a design's infrastructure: tiers of accelerators, links between them, boundaries."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.language.schema_kinds import Formula, Quantity, Word, key, listing, named, record
from coherence.language.value_kinds import COUNT, DEVICES, DURATION, NAME_KIND, VALUE, word
from coherence.language.words import CONSTANT, PART, WHOLE_STANDS_HERE


class Hosting(Record):
    """The tier that members of a component run on; `devices`: how many one member holds, whole ones or `1/7` of one."""

    tier: Word | None = key(NAME_KIND, means="the tier", required=True)
    place: Place | None = plain(compare=False)
    devices: Quantity | None = key(
        DEVICES,
        means="the devices that one member holds",
        without="the `claims` of the tier say it, else 1; where one each is too many it is asked for",
    )

    @property
    def text(self) -> str:
        """Returns the name of the tier; nothing where it is missing, which is a problem of its own."""
        return self.tier.text if self.tier else ""


class Tier(Record):
    """Accelerators of one kind."""

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses", means=PART, without=WHOLE_STANDS_HERE)
    count: Quantity | None = key(COUNT, means="how many devices there are", without="it is asked for")
    constants: dict[str, Quantity | Formula | Word] = key(
        VALUE, "<constant>", rest=True, means=CONSTANT, without="there are none"
    )


class Link(Record):
    """A connection between two or more tiers or components."""

    ends: tuple[Word, ...] = key(
        listing(NAME_KIND), means="the tiers or components that it connects", required=True, many=True
    )
    place: Place | None = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses", means=PART, without=WHOLE_STANDS_HERE)
    count: Quantity | None = key(COUNT, means="how many such links stand side by side", without="1")
    duplex: Word | None = key(
        word("full", "half"), means="whether each way has the whole bandwidth, or both share it", without="full"
    )
    shares: Word | None = key(
        word("fair", "fifo"),
        means="what several transfers get: fair, the same part of the bandwidth each; fifo, all of it one by one",
        without="fifo",
    )
    constants: dict[str, Quantity | Formula | Word] = key(
        VALUE, "<constant>", rest=True, means=CONSTANT, without="there are none"
    )


class Boundary(Record):
    """A virtualization or environment boundary around tiers or components.

    `added_delay`: of what is commanded across it; `reading_delay`: of what is read across it; `call_delay`: of an
    answer to what is called across it, there and back; `hides`: signals, or things with all of theirs, that are not
    seen across it.
    """

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses", means=PART, without=WHOLE_STANDS_HERE)
    kind: Word | None = key(
        word("virtualization", "environment"),
        means="what it is: virtual machines and shares of devices, or a site",
        without="not said",
    )
    around: tuple[Word, ...] = key(
        listing(NAME_KIND), means="the components, tiers and boundaries inside", required=True, many=True
    )
    added_delay: Quantity | None = key(DURATION, means="how late a command across it takes effect", without="0 s")
    reading_delay: Quantity | None = key(DURATION, means="how old what is read across it is", without="0 s")
    call_delay: Quantity | None = key(
        DURATION, means="how long a call across it and its answer are under way together", without="0 s"
    )
    hides: tuple[Word, ...] = key(
        listing(NAME_KIND, or_one=True), many=True, without="nothing is hidden",
        means="the signals, or things with all of theirs, that are not seen across it",
    )  # fmt: skip
    constants: dict[str, Quantity | Formula | Word] = key(
        VALUE, "<constant>", rest=True, means=CONSTANT, without="there are none"
    )


class Infrastructure(Record):
    """Tiers, links and boundaries."""

    tiers: dict[str, Tier] | None = key(
        named(Tier), means="accelerators of one kind each, by name", without="there are none"
    )
    links: tuple[Link, ...] = key(
        listing(record(Link)),
        many=True,
        means="connections between tiers or components",
        without="what goes takes no time",
    )
    boundaries: dict[str, Boundary] | None = key(
        named(Boundary), means="virtualization and environment boundaries, by name", without="nothing lies between"
    )
