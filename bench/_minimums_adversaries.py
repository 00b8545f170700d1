"""Every bound of the registry attacked inside its assumptions: how many have an adversary, how many are beaten."""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import Row
from coherence.minimums.adversaries.search import adversaries, attack
from coherence.minimums.registry import bounds


def rows() -> Iterator[Row]:
    """All rows of this part."""
    floors = [bound.name for bound in bounds() if bound.kind.floor]
    attacked = {name for one in adversaries() for name in one.targets}
    yield Row(
        "bounds with an adversary", len(attacked & {*floors}), f">= {len(floors)}", "bounds", "floors, ceilings, points"
    )
    beaten, runs, whole, tried = [], 0, 0, 0
    for adversary in adversaries():
        for name, given in adversary.targets.items():
            for inputs in given:
                result = attack(adversary, name, inputs)
                beaten += [name] if result.least is not None else []
                runs, whole, tried = runs + result.runs, whole + result.exhaustive, tried + 1
    says = f"{tried} inputs, {runs} runs; at {whole} of the inputs every run was played"
    yield Row(
        "bounds beaten by an adversary", len(set(beaten)), "== 0", "bounds", ", ".join(sorted(set(beaten))) or says
    )
