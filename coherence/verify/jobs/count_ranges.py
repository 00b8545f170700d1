"""Finds verdicts for every number of members and of places, and renders runs of equal verdicts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.findings.question_input import details_are_asked
from coherence.language.design import Loop
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import COPIES, DesignFacts, copies
from coherence.verify.facts.writers import initial
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.placement import BOUND, CERTAIN, NONE, POSSIBLE, UNKNOWN, placement
from coherence.verify.jobs.selectors import NODE_WORDS
from coherence.verify.jobs.sites import Cluster, cluster

MOST_VARIANTS = 100
MOST_SWEPT = 6000  # states, over all numbers of places
ADDERS = ("cluster_autoscaler", "karpenter")


@dataclass(frozen=True)
class PlaceVerdicts:
    """The verdict for each number of places of one kind, from 1 on."""

    name: str
    verdicts: tuple[tuple[int, str], ...]


def count_range(facts: DesignFacts, thing: str, most: int, place: Place) -> tuple[int, int]:
    """Returns the fewest and the most members that the thing may have.  Raises NeedsError."""
    if thing in facts.design.jobs and thing not in facts.design.components:
        raise NeedsError(f"{thing} as a component with copies: jobs wait when their place goes", place)
    range_ = copies(facts, thing)
    if range_ is None or range_.low is None or range_.high is None:
        raise NeedsError(f"copies of {thing} (how many there may be)", place)
    low, high = _reached(facts, thing, max(0, math.ceil(range_.low)), math.floor(range_.high))
    if high > most:
        raise NeedsError(f"at most {most} copies of {thing}: {high}", place)
    return low, high


def _reached(facts: DesignFacts, thing: str, low: int, high: int) -> tuple[int, int]:
    """Returns the part of the bounds that a proportional autoscaler can leave its stated beginning for.

    It goes up only where its signal may exceed setpoint * (1 + tolerance), down only below setpoint * (1 - tolerance).
    """
    writers = [writer for word in COPIES for writer in facts.written.get(f"{thing}.{word}", ())]
    first = initial(writers[0]) if len(writers) == 1 and writers[0].kind == "scale" else None
    target = writers[0].loop.target if first is not None else None
    if first is None or not first.exact or target is None or target.signal is None:
        return low, high
    setpoint, signal = target.setpoint, facts.range(target.signal.tree)
    if not isinstance(setpoint, Quantity) or not setpoint.exact or setpoint.low <= 0:
        return low, high
    slack = target.tolerance.low if target.tolerance is not None else Fraction(0)
    up = signal.high is None or signal.high > setpoint.low * (1 + slack)
    down = signal.low is None or signal.low < setpoint.low * (1 - slack)
    start = int(min(max(first.low, Fraction(low)), Fraction(high)))
    return (low if down else start), (high if up else start)


def adders(facts: DesignFacts, there: Cluster) -> str | None:
    """Returns a loop that may add places of which the design does not say the kind."""
    return adder_beside(facts, {name for site in there.sites for name in site.name.split(", ")})


def adder_beside(facts: DesignFacts, kinds: Collection[str]) -> str | None:
    """Returns a loop that may add places of other kinds than these."""
    loops = facts.design.loops.values()
    return next((x.name for x in loops if x.written.partition(".")[0] not in kinds and adds_nodes(x)), None)


def adds_nodes(loop: Loop) -> bool:
    """Decides whether a loop adds nodes, by its part or by the word for what it writes."""
    words = {word for node in NODE_WORDS for word in (node, node + "s")}
    by_part = loop.part is not None and loop.part.text.startswith(ADDERS) and "down" not in loop.part.text
    return by_part or loop.written.partition(".")[0] in words


def added_places_needed(loop: str) -> str:
    """Returns what to write of a loop that may add places of which the design does not say the kind."""
    return f"needs the places that {loop} adds (write {loop}'s signal as the count of one of the places)"


def variants(facts: DesignFacts) -> list[dict[str, int]]:
    """Returns the numbers of places that the design leaves open: one choice for each value of each stated range."""
    choices: list[dict[str, int]] = [{}]
    for name, given in facts.design.places.items():
        count = given.get("count")
        if isinstance(count, Quantity) and not count.exact:
            numbers = range(math.ceil(count.low), math.floor(count.high) + 1)
            choices = [{**choice, name: number} for choice in choices for number in numbers]
            if len(choices) > MOST_VARIANTS:
                raise NeedsError(f"a narrower count of {name}", count.place)
    return choices


def swept_nodes(facts: DesignFacts, there: Cluster, low: int, high: int) -> tuple[PlaceVerdicts, ...]:
    """Returns the placement verdict for 1 to 50 places of each kind whose count is stated, the others as they are."""
    kinds = [name for name, given in facts.design.places.items() if "count" in given and details_are_asked()]
    return tuple(_swept(facts, there, low, high, name, MOST_SWEPT // len(kinds)) for name in kinds)


def _swept(facts: DesignFacts, there: Cluster, low: int, high: int, name: str, budget: int) -> PlaceVerdicts:
    verdicts: list[tuple[int, str]] = []
    for number in range(1, BOUND + 1):
        other = cluster(facts, there.thing, numbers={**dict(there.chosen), name: number}, soft=False)
        outcome = placement(other, low, high, most=max(budget, 1))
        budget -= len(outcome.graph.edges)
        if budget <= 0 or outcome.verdict == UNKNOWN:
            break
        verdicts.append((number, outcome.verdict))
    return PlaceVerdicts(name, tuple(verdicts))


def summary(kinds: Iterable[PlaceVerdicts]) -> str:
    """Renders `; node: conflict at 1 to 2, none at 3 to 50` for each kind of places."""
    return "".join(f"; {nodes.name}: {render_verdicts(nodes.verdicts)}" for nodes in kinds if nodes.verdicts)


def render_verdicts(verdicts: Sequence[tuple[int, str]], *, saturated: bool = False) -> str:
    """Renders runs of equal verdicts; the last is open only where nothing can change any more (`saturated`)."""
    words = {CERTAIN: "conflict", POSSIBLE: "conflict by some choices", NONE: "none"}
    runs: list[tuple[int, int, str]] = []
    for number, verdict in verdicts:
        if runs and runs[-1][2] == verdict:
            runs[-1] = (runs[-1][0], number, verdict)
        else:
            runs.append((number, number, verdict))
    parts = [f"{words.get(verdict, verdict)} at {_span(first, last)}" for first, last, verdict in runs]
    if saturated and runs:
        parts[-1] = f"{words.get(runs[-1][2], runs[-1][2])} at {runs[-1][0]} and above"
    return ", ".join(parts) + ("" if saturated or not verdicts else f" (checked up to {verdicts[-1][0]})")


def _span(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} to {last}"
