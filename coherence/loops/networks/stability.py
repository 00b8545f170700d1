"""Decides whether a network is stable, for margins, peaks, windows and subsets.

`stability` is the verdict of two methods that agree (`delayed.verdict`).  What asks takes a `judge`, so that a
search over many networks can use a cheaper or a stricter one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coherence.base.errors import UsageError
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Network


@dataclass(frozen=True)
class Stability:
    """`verdict`: stable, unstable, marginal or undecided; `unstable`: roots in the right half plane, if counted."""

    verdict: str
    reason: str
    unstable: int | None = None


Judge = Callable[[Network], Stability]


def stability(network: Network) -> Stability:
    """Returns the verdict of a closed network of continuous blocks with exact delays.  Raises UsageError:
    sampled blocks.
    """
    sampled = [block.name for block in network.blocks if block.rate is not None]
    if sampled:
        raise UsageError(f"{', '.join(sampled)}: sampled blocks have no continuous verdict; see `multirate`")
    answer = verdict(network, confirm=False)
    return Stability(answer.verdict, answer.reason, answer.unstable)
