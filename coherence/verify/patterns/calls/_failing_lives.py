"""Says what a proof about lives is worth beside failures that the design states: some life outlasts them by chance."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding
from coherence.findings.question_input import Question
from coherence.language.design import Component
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO
from coherence.verify.patterns.calls._lives import MOST_LIVES, Life, OtherEnds, checkpoint, mean_life, upper

MEMORYLESS = "failures come by chance, whatever was before: a life of any age is as likely to fail in the next minute"
TOGETHER = "ranks_per_node"  # its ranks work together: the failure of any node ends the lives of all


def beside_failures(question: Question, life: Life, alone: Finding, others: OtherEnds) -> Finding:
    """Returns a proof with probability 1 about a thing that also fails by chance; open where too few lives are left."""
    name = life.component.name
    failing = " and ".join(f"{component.name}.mtbf" for component in others.failures)
    stated = [quantity for component in others.failures if (quantity := mean_life(component)) is not None]
    places = (*alone.places, *(quantity.place.labelled("fails so often") for quantity in stated))
    of = (*alone.of, *(component.name for component in others.failures if component.name not in alone.of))
    odd = next((c.constants["shape"] for c in others.failures if "shape" in c.constants), None)
    span, rate = _undisturbed(life), sum((_rate(component) for component in others.failures), ZERO)
    power = float(span * rate)
    why = ""
    if life.tries is not None:
        why = f"whether one of its {life.tries} tries outlasts {failing} is left to chance"
    elif others.paced:
        why = f"how often {others.names} and {failing} leave {name} {render_seconds(span)} is not followed"
    elif isinstance(odd, Quantity) and not (odd.exact and odd.low == 1):
        why = f"how failures of {name} with a `shape` fall on its lives is not followed"
    elif power > math.log(MOST_LIVES):
        shown = f"1 in {math.exp(power):.2g}" if power < 700 else "next to none"
        why = f"{failing} leaves {shown} lives of {name} the {render_seconds(span)} without a failure that it needs"
    if why:
        return question.undecided(f"{why}: without failures {alone.message}", places, of)
    share = math.floor(10_000 * math.exp(-power)) / 100
    if checkpoint(life.component)[0] is not None and life.progress():
        head = f"a life of {name} of {render_seconds(span)} keeps progress"
    else:
        head = alone.message
    message = f"{head}; {failing} leaves at least {share} % of its lives so long: done with probability 1"
    return replace(alone, message=message, places=places, of=of, assumptions=(*alone.assumptions, MEMORYLESS))


def _undisturbed(life: Life) -> Fraction:
    """Returns the seconds without a failure after which a life has done all, or has kept some of its progress."""
    every, write = checkpoint(life.component)
    if every is None or not life.progress():
        return life.longest_need
    return min(life.longest_need, upper(life.before) + every.high + (write.high if write else ZERO))


def _rate(component: Component) -> Fraction:
    """Returns the failures per second that end a life of a thing, at most."""
    mean, ranks, copies = mean_life(component), component.constants.get(TOGETHER), component.copies
    if mean is None:
        return ZERO
    nodes = Fraction(1)
    if isinstance(ranks, Quantity) and isinstance(copies, Quantity) and ranks.low > 0:
        nodes = Fraction(math.ceil(copies.high / ranks.low))
    return nodes / mean.low
