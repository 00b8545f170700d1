"""Every floor of the registry attacked inside its assumptions: how many have an adversary, how many are beaten."""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import Row
from coherence.minimums.adversaries.search import adversaries, least_below
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import Number, at
from coherence.minimums.registry import bounds, entry

ROUNDING = 1e-9  # of floors and runs in floating point


def rows() -> Iterator[Row]:
    """All rows of this part."""
    floors = [bound.name for bound in bounds() if bound.stands]
    attacked = {name for one in adversaries() for name in one.targets}
    yield Row("floors with an adversary", len(attacked & {*floors}), f">= {len(floors)}", "floors")
    beaten, runs, whole, tried = [], 0, 0, 0
    for adversary in adversaries():
        for name, given in adversary.targets.items():
            for inputs in given:
                result = least_below(adversary, name, inputs, _limit(name, inputs))
                beaten += [name] if result.least is not None else []
                runs, whole, tried = runs + result.runs, whole + result.exhaustive, tried + 1
    says = f"{tried} inputs, {runs} runs; at {whole} of the inputs every run was played"
    yield Row(
        "floors beaten by an adversary", len(set(beaten)), "== 0", "floors", ", ".join(sorted(set(beaten))) or says
    )


def _limit(name: str, inputs: Inputs) -> Number:
    value = at(entry(name).bound, inputs)
    return value * (1 - ROUNDING) if isinstance(value, float) else value
