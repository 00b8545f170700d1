"""Holds what is said of an overload against more: the Markov chain of queue and retries, and members that go."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from coherence.base.number_text import render_decimal, render_seconds
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Limit
from coherence.language.entries.member_slots import ALONE, member_slots
from coherence.simulate.metastability.fluid import smallest_pause
from coherence.simulate.metastability.load_map import overload
from coherence.verify.calls.claims import Numbers
from coherence.verify.facts.design_facts import copies, known
from coherence.verify.patterns.calls._load_amplification import AmplifiedLoad
from coherence.verify.patterns.calls._metastable_call import CallFacts, longest_sojourn, places_held, room


def disagreement(subject: Subject, load: AmplifiedLoad, measured: CallFacts, backlog: float = 0.0) -> str | None:
    """Renders both readings, where an overload lasts by the fluid and is over soon by the chain; else None.

    The fluid takes every try of an overload for late: its load is an upper bound.  Soon: before an hour is over.
    `backlog`: tries that wait when the disturbance is over.
    numpy is first needed here.
    """
    if not measured.memoryless or load.beside:
        return None
    from coherence.simulate.metastability.retry_chain import HOUR
    from coherence.simulate.metastability.retry_chain_models import overload_lasts

    full, call = room(subject.design, load.callee), measured.call
    places = places_held(subject.design, full, load.capacity.high)
    waiting = float(places[1]) if places is not None else math.inf
    seconds = overload_lasts(call, waiting=waiting, backlog=backlog)
    if seconds is None or seconds > HOUR:
        return None
    most = overload(call)
    margin = f"{100 * (most / call.capacity - 1):.2g}"
    return (
        f"two readings differ: by mean rates an overload of {load.callee} keeps itself up with a fluid margin of "
        f"{margin} % ({render_decimal(most)} of {render_decimal(load.capacity.low)} req/s, every try late); "
        f"by the Markov chain of queue and retries it is over after {render_seconds(round(seconds))} on average"
    )


def shortest_pause(measured: CallFacts) -> Numbers:
    """Returns the shortest pause that collapses, as a bound where shorter ones are not followed to an end."""
    shortest = smallest_pause(measured.call)
    name = "a pause that collapses (shorter ones undecided)" if shortest.undecided else "shortest pause that collapses"
    return {name: (two_digits(shortest.seconds), "s")} if math.isfinite(shortest.seconds) else {}


def two_digits(time: float) -> Fraction:
    """Returns a time rounded up to two digits, as the accuracy of the models allows."""
    if time <= 0 or not math.isfinite(time):
        return Fraction(0)
    scale = Fraction(10) ** (math.floor(math.log10(time)) - 1)
    return math.ceil(Fraction(time) / scale) * scale


def with_members(question: Question, subject: Subject, load: AmplifiedLoad, proof: Finding) -> Finding:
    """Returns a proof with what it takes for granted of the members of the callee; open where they go at once."""
    if proof.verdict is not Verdict.PROVED:
        return proof
    from coherence.verify.jobs.losses import members_left

    certain, assumed = members_left(known(subject), load.callee)
    if certain is None:
        return replace(proof, assumptions=(*proof.assumptions, *assumed))
    needs = f"{certain.uncounted(load.callee)}; with all of them: {proof.message}"
    places = (*proof.places, certain.place.labelled("takes members away"))
    return question.undecided(needs, places, (*load.of, certain.name))


def in_time(question: Question, subject: Subject, load: AmplifiedLoad, full: Limit, slow: Fraction) -> Finding:
    """Answers where a queue holds no more than is served within `slow` seconds, the least limit of a try, by its mean.

    Proved where it is so by the longest service as well: no accepted try runs into its limit.
    """
    members = copies(known(subject), load.callee)
    fewest = math.floor(members.low) if members is not None and members.low is not None else 0
    slots = member_slots(subject.design, load.callee) or ALONE
    sojourn = longest_sojourn(subject.design, load, full, math.floor(fewest * slots.low))
    holds = f"{full.name} lets {load.callee} hold no more than it serves within {render_seconds(slow)}"
    if sojourn is None or sojourn[0] >= slow:
        most = f", and at the longest within {render_seconds(sojourn[0])}" if sojourn is not None else ""
        return question.undecided(f"needs a simulation: {holds}{most}", load.places, load.of)
    longest, end = sojourn
    message = f"no try of what {full.name} lets in runs into its limit: it takes {render_seconds(longest)} at most"
    numbers: Numbers = {**load.numbers, "longest": (longest, "s"), "limit of a try": (slow, "s")}
    certificate = Certificate(claim=f"(< {rational(longest)} {rational(slow)})").script()
    places = [*load.places, full.place.labelled("so many may wait"), end.place.labelled("the longest service")]
    assumed = (f"no member of {load.callee} stands still", *slots.assumed(load.callee))
    proof = question.proved(
        f"{message} of {render_seconds(slow)}, and no overload lasts", places, (*load.of, full.name),
        arithmetic(numbers, certificate=certificate), assumptions=assumed,
    )  # fmt: skip
    return with_members(question, subject, load, proof)
