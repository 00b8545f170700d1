"""Declares the vocabulary of a workload: its rate, how it varies, and how large its requests are."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.base.units import ONE
from coherence.language.schema_kinds import Formula, Quantity, Word, either, key, listing, mapping, record
from coherence.language.value_kinds import AMOUNT, DURATION, TEXT, VALUE, quantity, word
from coherence.language.words import CASES, CONSTANT, NOTE

LAWS = ("constant", "exponential", "gamma", "hyperexponential", "lognormal", "uniform")


class Burst(Record):
    """A rate that lasts a while and comes back."""

    rate: Quantity | None = key(AMOUNT, means="the rate while it lasts, instead of the workload's", required=True)
    lasts: Quantity | None = key(DURATION, also="duration for", means="how long a burst lasts", required=True)
    every: Quantity | None = key(
        DURATION, also="period interval", means="the time from one burst to the next", without="there is one"
    )


class Spread2(Record):
    """A distribution by mean and coefficient of variation (and at most `max`).

    `law`: its family; without one the gamma law of this mean and this `cv`.  `quantiles`: measured times that such a
    share do not exceed, from 0 % to 100 %, straight between them; `mean` is then theirs.  `max` cuts what is longer.
    """

    exclusive = ("cv", "quantiles")

    mean: Quantity | None = key(AMOUNT, means="the mean, in its unit", required=True)
    cv: Quantity | None = key(
        quantity(ONE, low=0), means="the coefficient of variation: standard deviation over mean",
        without="the law or the quantiles say it, else 1",
    )  # fmt: skip
    max: Quantity | None = key(AMOUNT, means="the largest value: what is longer is cut to it", without="no end")
    law: Word | None = key(word(*LAWS), means="the family of the distribution", without="gamma, of this mean and `cv`")
    quantiles: dict[str, Quantity] | None = key(
        mapping(AMOUNT, names=False), without="the law says it",
        means="measured values that such a share does not exceed, from `0 %` to `100 %`, straight between them",
    )  # fmt: skip


class Switch(Record):
    """One rate of arrivals that come at several in turn, and how long it lasts on average (exponential)."""

    rate: Quantity | None = key(AMOUNT, means="the rate while it lasts", required=True)
    lasts: Quantity | None = key(DURATION, means="how long it lasts on average (exponential)", required=True)


class Randomness(Record):
    """How irregular arrivals are: `cv` of the times between them (1: Poisson), or a rate that `switches` by chance."""

    exclusive = ("cv", "switches")

    cv: Quantity | None = key(
        quantity(ONE, low=0), means="the coefficient of variation of the times between arrivals; 1 is Poisson",
        without="`switches` says it",
    )  # fmt: skip
    switches: tuple[Switch, ...] = key(
        listing(record(Switch)), many=True, means="the rates that follow each other by chance", without="one rate"
    )


class Workload(Record):
    """Arrivals, sent on by calls from its name, or to the component of its name: rate, bursts, demand, tokens.

    A request that has not ended by its `deadline` is given up.  `priority`: where what serves it has an order by
    priority, higher ones come first.  `cases`: how many of its requests are of each case, relative to each other.
    """

    name: str
    place: Place = plain(compare=False)
    rate: Quantity | None = key(
        AMOUNT,
        means="how many come per time (`120 req/s`)",
        without="it is asked for where an answer rests on it",
    )
    arrivals: Randomness | Word | None = key(
        either(record(Randomness), word("poisson", "regular")), means="how irregular they come",
        without="Poisson, which a run says",
    )  # fmt: skip
    burst: Burst | None = key(record(Burst), means="a higher rate that lasts a while and comes back", without="none")
    service: Spread2 | Quantity | None = key(
        either(record(Spread2), AMOUNT),
        also="service_time duration",
        means="the time that one member works for one request",
        without="it is asked for where an answer rests on it",
    )  # fmt: skip
    tokens: Spread2 | Quantity | None = key(
        either(record(Spread2), AMOUNT), means="the tokens of a request, prompt and answer together",
        without="`prompt` and `answer` say it",
    )  # fmt: skip
    prompt: Spread2 | Quantity | None = key(
        either(record(Spread2), AMOUNT), means="the tokens of its prompt", without="it is asked for by a server"
    )
    answer: Spread2 | Quantity | None = key(
        either(record(Spread2), AMOUNT), means="the tokens of its answer", without="it is asked for by a server"
    )
    prefix: Quantity | None = key(
        AMOUNT, means="the tokens that all its prompts begin with, which a prefix cache keeps", without="0"
    )
    residence: Spread2 | Quantity | None = key(
        either(record(Spread2), DURATION), means="how long a request holds memory", without="its `service`"
    )
    deadline: Quantity | None = key(
        DURATION,
        also="timeout",
        means="the time after which a request that has not ended is given up",
        without="it is never given up",
    )
    priority: Quantity | None = key(
        quantity(ONE, whole=True),
        means="the higher ones come first where what serves them orders by priority",
        without="0",
    )
    cases: dict[str, Quantity] | None = key(
        mapping(quantity(ONE, low=0)), means=CASES, without="proofs hold for any; a run of calls with cases needs them"
    )
    note: Word | None = key(TEXT, means=NOTE, for_people=True)
    constants: dict[str, Quantity | Formula | Word] = key(
        VALUE, "<constant>", rest=True, means=CONSTANT, without="there are none"
    )
