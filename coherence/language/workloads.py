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
    mapping,
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

LAWS = ("constant", "exponential", "gamma", "hyperexponential", "lognormal", "uniform")


class Burst(Record):
    """A rate that lasts a while and comes back."""

    rate: Quantity | None = key(ANY_QUANTITY, required=True)
    lasts: Quantity | None = key(DURATION, required=True)
    every: Quantity | None = key(DURATION)


class Spread2(Record):
    """A distribution by mean and coefficient of variation (and at most `max`).

    `law`: its family; without one the gamma law of this mean and this `cv`.  `quantiles`: measured times that such a
    share do not exceed, from 0 % to 100 %, straight between them; `mean` is then theirs.  `max` cuts what is longer.
    """

    exclusive = ("cv", "quantiles")

    mean: Quantity | None = key(ANY_QUANTITY, required=True)
    cv: Quantity | None = key(quantity(ONE, low=0))
    max: Quantity | None = key(ANY_QUANTITY)
    law: Word | None = key(word(*LAWS))
    quantiles: dict[str, Quantity] | None = key(mapping(ANY_QUANTITY, names=False))


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
    """Arrivals: a rate, how irregular it is, bursts, a service demand, tokens (of prompt, shared prefix, answer).

    A request that has not ended by its `deadline` is given up.  `priority`: where what serves it has an order by
    priority, higher ones come first.  `cases`: how many of its requests are of each case, relative to each other.
    """

    name: str
    place: Place = plain(compare=False)
    rate: Quantity | None = key(ANY_QUANTITY)
    arrivals: Randomness | Word | None = key(either(record(Randomness), word("poisson", "regular")))
    burst: Burst | None = key(record(Burst))
    service: Spread2 | Quantity | None = key(either(record(Spread2), ANY_QUANTITY))
    tokens: Spread2 | Quantity | None = key(either(record(Spread2), ANY_QUANTITY))
    prompt: Spread2 | Quantity | None = key(either(record(Spread2), ANY_QUANTITY))
    answer: Spread2 | Quantity | None = key(either(record(Spread2), ANY_QUANTITY))
    prefix: Quantity | None = key(ANY_QUANTITY)
    residence: Spread2 | Quantity | None = key(either(record(Spread2), DURATION))
    deadline: Quantity | None = key(DURATION)
    priority: Quantity | None = key(quantity(ONE, whole=True))
    cases: dict[str, Quantity] | None = key(mapping(quantity(ONE, low=0)))
    note: Word | None = key(TEXT, for_people=True)
    constants: dict[str, Quantity | Formula | Word] = key(VALUE, "<constant>", rest=True)
