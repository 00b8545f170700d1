"""Declares the vocabulary of a design's infrastructure: tiers of accelerators, links between them, boundaries."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.language.schema_kinds import Formula, Quantity, Word, key, listing, named, record
from coherence.language.value_kinds import COUNT, DEVICES, DURATION, NAME_KIND, VALUE, word


class Hosting(Record):
    """The tier that members of a component run on; `devices`: how many one member holds, whole ones or `1/7` of one."""

    tier: Word = key(NAME_KIND, required=True)
    place: Place | None = plain(compare=False)
    devices: Quantity | None = key(DEVICES)

    @property
    def text(self) -> str:
        """Returns the name of the tier."""
        return self.tier.text


class Tier(Record):
    """Accelerators of one kind."""

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses")
    count: Quantity | None = key(COUNT)
    constants: dict[str, Quantity | Formula | Word] = key(VALUE, "<constant>", rest=True)


class Link(Record):
    """A connection between two or more tiers or components."""

    ends: tuple[Word, ...] = key(listing(NAME_KIND), required=True, many=True)
    place: Place | None = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses")
    count: Quantity | None = key(COUNT)
    duplex: Word | None = key(word("full", "half"))
    constants: dict[str, Quantity | Formula | Word] = key(VALUE, "<constant>", rest=True)


class Boundary(Record):
    """A virtualization or environment boundary around tiers or components.

    `added_delay`: of what is commanded across it; `reading_delay`: of what is read across it; `call_delay`: of an
    answer to what is called across it, there and back; `hides`: signals, or things with all of theirs, that are not
    seen across it.
    """

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses")
    kind: Word | None = key(word("virtualization", "environment"))
    around: tuple[Word, ...] = key(listing(NAME_KIND), required=True, many=True)
    added_delay: Quantity | None = key(DURATION)
    reading_delay: Quantity | None = key(DURATION)
    call_delay: Quantity | None = key(DURATION)
    hides: tuple[Word, ...] = key(listing(NAME_KIND, or_one=True), many=True)
    constants: dict[str, Quantity | Formula | Word] = key(VALUE, "<constant>", rest=True)


class Infrastructure(Record):
    """Tiers, links and boundaries."""

    tiers: dict[str, Tier] | None = key(named(Tier))
    links: tuple[Link, ...] = key(listing(record(Link)), many=True)
    boundaries: dict[str, Boundary] | None = key(named(Boundary))
