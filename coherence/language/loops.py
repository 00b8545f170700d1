"""Declares the vocabulary of control loops: target, timescale, trigger or rules, actuation."""

from __future__ import annotations

from typing import Any

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.base.units import ONE
from coherence.language.schema_kinds import Formula, Quantity, Word, either, key, listing, record
from coherence.language.sentences import LINK, SensorLink
from coherence.language.value_kinds import (
    ANY_QUANTITY,
    DURATION,
    FORMULA,
    NAME_KIND,
    PERIOD,
    TEXT,
    VALUE,
    quantity,
    word,
)
from coherence.language.words import LAYER, NOTE, OBJECTIVE, PART, WHOLE_STANDS_HERE

LAYERS = ("cluster", "orchestration", "runtime", "model", "safety")


class Target(Record):
    """What a loop watches and where it wants it; `sensor` is the chain from the signal to the loop.

    `type`: `utilization`, the mean over the members that are ready; `value`, one number, and the ready ones are
    multiplied; `average`, a total that is shared among all members, each of which has its part of it.
    """

    signal: Formula | None = key(
        FORMULA, also="reads metric measures observes input", means="the signal that the loop reads", required=True
    )
    setpoint: Quantity | Formula | None = key(
        VALUE,
        also="value goal desired threshold average_utilization reference",
        means="where the loop wants the signal, in the unit of the signal",
        without="nothing is wanted, and a proportional law cannot be followed",
    )  # fmt: skip
    tolerance: Quantity | None = key(
        quantity(ONE, low=0), without="0",
        also="deadband dead_band hysteresis",
        means="how far the signal may be off its setpoint, as a share of it, while the loop does nothing",
    )  # fmt: skip
    kind: Word | None = key(
        word("utilization", "value", "average"), "type", without="one number, and all members are multiplied",
        means="what the signal is to the members: a mean over the ready ones, one number by which the ready ones are "
        "multiplied, or a total that all share, which the loop divides by them where its text does not",
    )  # fmt: skip
    sensor: tuple[SensorLink, ...] = key(
        listing(LINK, or_one=True), many=True, without="the loop sees the signal as it is at that instant",
        also="filter averaging smoothing delay",
        means="what lies between the signal and the loop, in order: samplers (`scrape 30 s`, `relist 10 s`), windows "
        "(`mean`, `max`, `rate`, `irate`, `last`, each with its length), and what is seen or missed (`sees x`, "
        "`misses x`)",
    )  # fmt: skip


class Timescale(Record):
    """When a loop acts.  `lands` = delay from command to effect; holds and cooldown as in model.md rule 4."""

    period: Quantity | None = key(
        PERIOD,
        also="every interval sync_period polling_interval sample_time",
        means="the time from one sample of the loop to the next",
        without="a loop that `enter` and `leave` switch acts as they turn; any other cannot run, and is asked for it",
    )  # fmt: skip
    phase: Quantity | None = key(
        DURATION,
        also="offset start",
        means="the time of the first sample",
        without="0 s in runs; proofs and analyses hold for every phase",
    )
    hold_down: Quantity | None = key(
        DURATION, without="0 s",
        also="stabilization scale_down_stabilization stabilization_window_seconds scale_down_delay",
        means="the window of stabilization going down: the largest recommendation made in it is followed",
    )  # fmt: skip
    hold_up: Quantity | None = key(
        DURATION, without="0 s",
        also="scale_up_stabilization scale_up_delay",
        means="the window of stabilization going up: the smallest recommendation made in it is followed",
    )  # fmt: skip
    window: Word | None = key(
        word("closed", "open"), without="`closed`",
        means="whether a recommendation as old as its window of stabilization counts; `open` where it does not",
    )  # fmt: skip
    cooldown: Quantity | None = key(
        DURATION,
        also="cooldown_period wait",
        means="the time after an action that changed the value in which the loop does nothing",
        without="0 s",
    )
    lands: Quantity | None = key(
        DURATION,
        also="delay lag latency start_time startup boot dead_time",
        means="the time from a command to its effect",
        without="0 s: at once",
    )


class Relay(Record):
    """A trigger with memory: false at first, `enter` wins over `leave`.  Without a period it switches at crossings."""

    enter: Formula | None = key(
        FORMULA, also="on above start", means="the condition that makes the trigger true", required=True
    )
    leave: Formula | None = key(
        FORMULA, also="off below stop", means="the condition that makes it false, unless `enter` holds", required=True
    )


class Rule(Record):
    """One of ordered rules: while `when` holds, change by `by` or set to `to`."""

    exclusive = ("by", "to")

    when: Formula | None = key(
        FORMULA, also="if condition", means="the condition of the rule; the first rule that holds acts", required=True
    )
    by: Quantity | Formula | None = key(
        VALUE,
        also="add change",
        means="by how much a sample changes the command, with its sign",
        without="`to` says it",
    )
    to: Quantity | Formula | None = key(VALUE, also="set", means="what the command is set to", without="`by` says it")


class Rate(Record):
    """At most `by` (absolute) or `percent` of change by this loop itself per `per`."""

    by: Quantity | None = key(
        ANY_QUANTITY,
        also="pods value max",
        means="the most that the command may change, in its unit; beside `percent` the larger one binds",
        without="`percent` alone binds",
    )  # fmt: skip
    percent: Quantity | None = key(
        ANY_QUANTITY,
        also="share ratio",
        means="the most that the command may change, as a share of what it was",
        without="`by` alone binds",
    )
    per: Quantity | None = key(
        DURATION, also="period period_seconds every", means="the time in which it may change so far", required=True
    )
    way: Word | None = key(
        word("up", "down", "both"), also="direction", means="the direction that is limited", without="both"
    )


class Actuation(Record):
    """What a loop writes, by which law, within which bounds; `off_at`: a value below them at which it does nothing."""

    exclusive = ("by", "to")
    decided_by = "law"

    signal: Word | None = key(
        NAME_KIND,
        also="sets writes output scales actuates command replicas",
        means="the signal that the loop writes",
        without="`evict` says what it does",
    )
    law: Word | None = key(
        word("proportional", "step", "set", "ignore"),
        without="`set` beside `to`, `step` beside `by`; `rules` decide where they stand; else `proportional`",
        also="algorithm policy",
        means="how the command follows: what is there times measured over setpoint; changed by `by` at each sample; "
        "set to `to`; or, while triggered, read by others as if it were 0",
    )  # fmt: skip
    by: Quantity | Formula | None = key(
        VALUE,
        also="step_size increment",
        means="by how much each sample changes the command while the loop is triggered, with its sign",
        without="`to`, `rules` or the law say it",
    )  # fmt: skip
    to: Quantity | Formula | Word | None = key(
        VALUE, means="what the command is set to while the loop is triggered; `unset` gives the signal back",
        without="`by`, `rules` or the law say it",
    )  # fmt: skip
    bounds: tuple[Quantity | Word | Formula, ...] = key(
        listing(VALUE, or_one=True), many=True,
        also="min max limits range min_replicas max_replicas at_least at_most min_replica_count max_replica_count",
        means="the least and the greatest command of this loop, `[2, 50]`",
        without="the range of the signal alone bounds it",
    )  # fmt: skip
    rate: tuple[Rate, ...] = key(
        listing(record(Rate), or_one=True), many=True,
        also="policies slew rate_limit",
        means="how fast the loop may change the command",
        without="as fast as its law says",
    )  # fmt: skip
    mode: Word | None = key(
        word("always", "on change", "once"), without="`always`",
        means="when the loop writes: at each sample, when what it wants has changed, or only once",
    )  # fmt: skip
    count: Word | None = key(
        word("commanded", "landed"), without="`landed`",
        means="which count a proportional law multiplies: what was commanded last, or what has come of it",
    )  # fmt: skip
    initial: Quantity | Formula | None = key(
        VALUE, "from", also="start initial", means="the command at time 0",
        without="proofs start anywhere in the bounds; runs at rest where that can be found, else at the lower bound",
    )  # fmt: skip
    off_at: Quantity | None = key(
        ANY_QUANTITY, means="a value below the bounds at which the loop does nothing until others change it",
        without="there is none",
    )  # fmt: skip
    evict: Word | None = key(
        NAME_KIND, means="the component of which the loop removes one member at each sample while it is triggered",
        without="it removes none",
    )  # fmt: skip


class Loop(Record):
    """Objective, target, timescale, trigger or ordered rules, actuation, layer and rank; `inside`: where it runs."""

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses", means=PART, without=WHOLE_STANDS_HERE)
    layer: Word | None = key(word(*LAYERS), means=LAYER, for_people=True)
    objective: Word | None = key(TEXT, means=OBJECTIVE, for_people=True)
    rank: Quantity | None = key(
        quantity(ONE), means="its place among loops that decide in one instant: the smallest first",
        without="after those with a rank, as declared; proofs hold for every order of loops that write one signal",
    )  # fmt: skip
    inside: tuple[Word, ...] = key(
        listing(NAME_KIND, or_one=True), many=True,
        also="runs_in",
        means="where the loop runs: a boundary, a component, a tier, or `none` of them; commands and readings cross "
        "the boundaries between there and what they are about",
        without="it is asked for where a boundary lies between, and answers that differ by it stay open",
    )  # fmt: skip
    target: Target | None = key(
        record(Target),
        also="objective_signal reads metric metrics measures",
        means="what the loop watches, and where it wants it",
        without="it follows its trigger or rules",
    )
    timescale: Timescale | None = key(
        record(Timescale), also="timing time", means="when the loop samples, holds, waits and takes effect",
        without="its timing is asked for where an answer rests on it",
    )  # fmt: skip
    trigger: Formula | Relay | None = key(
        either(record(Relay), FORMULA), without="always",
        also="when if condition",
        means="the condition under which the loop acts, or one with memory: `{enter: c, leave: d}`",
    )  # fmt: skip
    rules: tuple[Rule, ...] = key(
        listing(record(Rule)), many=True, means="ordered rules instead of a trigger: the first that holds acts",
        without="trigger and law decide",
    )  # fmt: skip
    actuation: Actuation | None = key(
        record(Actuation),
        also="action output writes sets scales scale_target",
        means="what the loop writes, by which law and within which bounds",
        without="its part says it, or it writes nothing",
    )  # fmt: skip
    per: Word | None = key(
        NAME_KIND, means="one such loop stands for each member of this component", without="there is one"
    )
    intended: Word | None = key(
        TEXT, without="it is a finding",
        means="why it is meant to go on and off for ever (a cleaner between two marks): such a cycle is a note",
    )  # fmt: skip
    contact: Word | None = key(TEXT, also="owner team", means="who answers for the loop", for_people=True)
    logs: Any = key(listing(TEXT, or_one=True), means="where its decisions are recorded", for_people=True)
    note: Word | None = key(TEXT, means=NOTE, for_people=True)

    @property
    def written(self) -> str:
        """Returns the signal that the loop writes, as it is stated; nothing where it writes none."""
        signal = self.actuation.signal if self.actuation is not None else None
        return signal.text if signal is not None else ""

    @property
    def evicted(self) -> str:
        """Returns the thing whose members the loop evicts; nothing where it evicts none."""
        evict = self.actuation.evict if self.actuation is not None else None
        return evict.text if evict is not None else ""
