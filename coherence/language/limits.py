"""Declares the vocabulary of limits: caps, floors, budgets, windows of rates, freezes."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.language.loops import LAYERS
from coherence.language.schema_kinds import Formula, Quantity, Word, key, listing
from coherence.language.value_kinds import FORMULA, NAME_KIND, TEXT, UNLIMITED_DURATION, VALUE, word
from coherence.language.words import LAYER, NOTE, OBJECTIVE, PART, PER, WHOLE_STANDS_HERE


class Limit(Record):
    """A count with a cap or a floor; `when_full` says what happens at the cap."""

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses", means=PART, without=WHOLE_STANDS_HERE)
    counts: Formula | None = key(
        FORMULA,
        also="of on count what signal resource",
        means="what is counted (`web.available`, `requests.retries in flight`, `count of web by node`)",
        without="it is asked for where an answer rests on it",
    )  # fmt: skip
    at_most: Quantity | Formula | Word | None = key(
        VALUE,
        also="max maximum limit rate cap max_surge max_unavailable",
        means="the cap, in what is counted; `20 % of x` is a share",
        without="there is no cap",
    )
    at_least: Quantity | Formula | Word | None = key(
        VALUE,
        also="min minimum floor min_available",
        means="the floor, in what is counted",
        without="there is no floor",
    )
    but_at_least: Quantity | Formula | Word | None = key(
        VALUE, means="the cap is never below this, however small its share is", without="0"
    )
    rounding: Word | None = key(
        word("up", "down", "exact"), means="how a share of members becomes whole ones", without="exact"
    )
    window: Quantity | Word | None = key(
        UNLIMITED_DURATION,
        also="interval period every per_time refill",
        means="the time in which so many may happen; any such time counts",
        without="it counts what is there at each instant",
    )  # fmt: skip
    scope: Word | None = key(
        TEXT,
        also="applies_to where",
        means="where it counts, in prose (`one proxy`): caps of different scopes do not meet",
        without="everywhere",
    )
    per: Word | None = key(NAME_KIND, means=PER, without="there is one")
    when_full: Word | None = key(
        word("wait", "reject", "evict and redo", "fail and lose"),
        also="on_full overflow on_limit action",
        means="what becomes of the one that comes at the cap: of what a loop writes, as much as fits comes there",
        without="it is asked for where an answer rests on it",
    )  # fmt: skip
    refused: Word | None = key(
        word("count", "do not count"), means="whether a window counts what it refuses",
        without="runs do not count it; a conflict of `check` that rests on it assumes `count`, and says so",
    )  # fmt: skip
    during: Word | None = key(
        TEXT,
        also="when schedule cron",
        means="when it holds, in UTC: `0 9 * * mon-fri for 8 h`, a cron expression and a length",
        without="always",
    )
    actions: tuple[Word, ...] = key(
        listing(TEXT, or_one=True), many=True, means="the actions that it counts, where it does not count all",
        without="all",
    )  # fmt: skip
    layer: Word | None = key(word(*LAYERS), means=LAYER, for_people=True)
    objective: Word | None = key(TEXT, means=OBJECTIVE, for_people=True)
    intended: Word | None = key(
        TEXT, without="it is a finding",
        means="why it is meant to hold everything back or to be asked for more: what would be a finding is a note",
    )  # fmt: skip
    note: Word | None = key(TEXT, means=NOTE, for_people=True)

    @property
    def waits(self) -> bool:
        """Returns whether it says that what comes at the cap waits."""
        return self.when_full is not None and self.when_full.text == "wait"

    @property
    def rejects(self) -> bool:
        """Returns whether it turns away what comes at the cap."""
        return self.when_full is not None and self.when_full.text == "reject"

    @property
    def loses(self) -> bool:
        """Returns whether what comes at the cap fails and is lost."""
        return self.when_full is not None and self.when_full.text == "fail and lose"
