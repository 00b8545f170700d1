"""Declares the vocabulary of a workload: its rate, how it varies, and how large its requests are."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.base.units import ONE
from coherence.language.schema_kinds import (
    Formula,
    Quantity,
    Word,
    either,
    key,
    listing,
    record,
)
from coherence.language.value_kinds import (
    ANY_QUANTITY,
    DURATION,
    TEXT,
    VALUE,
    quantity,
    word,
)


class Burst(Record):
    """A rate that lasts a while and comes back."""

    rate: Quantity | None = key(ANY_QUANTITY, required=True)
    lasts: Quantity | None = key(DURATION, required=True)
    every: Quantity | None = key(DURATION)


class Spread2(Record):
    """A distribution by mean and coefficient of variation (and at most `max`)."""

    mean: Quantity | None = key(ANY_QUANTITY, required=True)
    cv: Quantity | None = key(quantity(ONE, low=0))
    max: Quantity | None = key(ANY_QUANTITY)


class Switch(Record):
    """One rate of arrivals that come at several in turn, and how long it lasts on average (exponential)."""

    rate: Quantity | None = key(ANY_QUANTITY, required=True)
    lasts: Quantity | None = key(DURATION, required=True)


class Randomness(Record):
    """How irregular arrivals are: `cv` of the times between them (1: Poisson), or a rate that `switches` by chance."""

    exclusive = ("cv", "switches")

    cv: Quantity | None = key(quantity(ONE, low=0))
    switches: tuple[Switch, ...] = key(listing(record(Switch)), many=True)


class Workload(Record):
    """Arrivals: a rate, how irregular it is, bursts, a service demand, tokens (of prompt and answer)."""

    name: str
    place: Place = plain(compare=False)
    rate: Quantity | None = key(ANY_QUANTITY)
    arrivals: Randomness | Word | None = key(either(record(Randomness), word("poisson", "regular")))
    burst: Burst | None = key(record(Burst))
    service: Spread2 | Quantity | None = key(either(record(Spread2), ANY_QUANTITY))
    tokens: Spread2 | Quantity | None = key(either(record(Spread2), ANY_QUANTITY))
    prompt: Spread2 | Quantity | None = key(either(record(Spread2), ANY_QUANTITY))
    answer: Spread2 | Quantity | None = key(either(record(Spread2), ANY_QUANTITY))
    residence: Spread2 | Quantity | None = key(either(record(Spread2), DURATION))
    deadline: Quantity | None = key(DURATION)
    note: Word | None = key(TEXT, for_people=True)
    constants: dict[str, Quantity | Formula | Word] = key(VALUE, "<constant>", rest=True)
