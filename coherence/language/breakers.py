"""Declares the vocabulary of a breaker of a call: what opens it, how long it stays open, and its trials."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.base.units import ONE, SECOND
from coherence.language.schema_kinds import Quantity, key
from coherence.language.value_kinds import quantity

SOME = quantity(ONE, low=1, whole=True)


class Breaker(Record):
    """Fails every try of a call at once for `open_for`, after so many `failures` in a row or a `share` of the `last`.

    `at_least`: a share is looked at only when so many have ended (without it: all of `last`).  `trials`: so many are
    then let through (1); where they fail as much as opens it, it opens again, else it closes.
    """

    exclusive = ("failures", "share")

    place: Place | None = plain(compare=False)
    failures: Quantity | None = key(SOME)
    share: Quantity | None = key(quantity(ONE, low=0))
    last: Quantity | None = key(SOME)
    at_least: Quantity | None = key(SOME)
    open_for: Quantity | None = key(quantity(SECOND, low=0), required=True)
    trials: Quantity | None = key(SOME)
