"""Finds what one member serves of several workloads together, each with a mean service time of its own.

By the rates at which they come: the mean of a request is the mean of all, so that a thing of N members serves them
where the work of a second, the sum of rate times mean, is below N.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.queues.offered_load import OfferedRate, alone_at, called
from coherence.verify.queues.service_means import longest_service_of, mean_service


def mixed_rate(facts: DesignFacts, thing: str) -> OfferedRate | None:
    """Returns requests per second of one member at the stated mix; None where the design does not say.

    The low end is that of the most of each workload with its longest mean, the high end that of the fewest with their
    shortest: each decides against the rates of its own end.
    """
    rates = list(called(facts.design, thing))
    workloads = [facts.design.workload[name] for rate in rates for name in rate.names]
    means = [mean for workload in workloads if (mean := mean_service(workload)) is not None and mean.low > 0]
    few = len(rates) < 2 or not len(rates) == len(workloads) == len(means)
    if few or not all(alone_at(facts, workload, thing) for workload in workloads):
        return None
    most, least = [rate.high for rate in rates], [rate.low for rate in rates]
    low = sum(most) / _work(most, [mean.high for mean in means])
    fewest = _work(least, [mean.low for mean in means])
    high = sum(least) / fewest if fewest else max(1 / mean.low for mean in means)
    places = tuple(mean.place.labelled("one request takes this") for mean in means)
    cut = next((q for workload in workloads if (q := longest_service_of(workload)) is not None), None)
    return OfferedRate(low, high, high, places, open=_open(cut))


def _work(rates: list[Fraction], seconds: list[Fraction]) -> Fraction:
    return sum((rate * mean for rate, mean in zip(rates, seconds, strict=True)), Fraction(0))


def _open(cut: Quantity | None) -> str:
    return "" if cut is None else f"the mean of the services that `max: {cut}` cuts"
