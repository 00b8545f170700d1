"""Defines the outcomes of a promise: a run that breaks it, a proof, or neither with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from coherence.simulate.execute.exact import Choices, Instant
from coherence.simulate.execute.orbits import LongRun
from coherence.verify.promises.certainty import POSSIBLE, Certainty


@dataclass(frozen=True)
class Refuted:
    """A run that breaks the promise: its choices, its instants, and its orbit where it breaks it for ever.

    `certainty`: whether it is broken whatever the design leaves open; `rests_at`: where the run comes to rest, where
    that is shown in enclosures and the instants are its exact beginning.
    """

    choices: Choices
    instants: tuple[Instant, ...]
    run: LongRun | None = None
    certainty: Certainty = POSSIBLE
    rests_at: Mapping[str, Fraction] = field(default_factory=dict)


@dataclass(frozen=True)
class Proved:
    """The promise holds: how, over what, and the SMT-LIB certificate where a solver was used."""

    method: str
    certificate: str | None
    assumptions: tuple[str, ...]
    touching: bool = False


@dataclass(frozen=True)
class Open:
    """Neither; the reason, and how far the search went.  `curved`: no exact run follows what the promise reads."""

    reason: str
    bound: str
    curved: bool = False


Outcome = Refuted | Proved | Open
