"""Puts a delay into readings: what some couplings read passes a block of that delay first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from coherence.loops.networks.network import Block, Coupling


def read_late(
    couplings: Iterable[Coupling], is_late: Callable[[Coupling], bool], delay: Fraction
) -> tuple[list[Block], list[Coupling]]:
    """Returns the delays, one for each source that is read late, and all couplings with these in between.

    A delay stays a fraction: a reading that is rounded by a hair would see the command before.
    """
    late: dict[str, str] = {}
    joined: list[Coupling] = []
    for coupling in couplings:
        source = coupling.source
        if is_late(coupling):
            source = late.setdefault(source, f"later {len(late) + 1}")
        joined.append(Coupling(source, coupling.target, coupling.gain))
    blocks = [Block(name, (1.0,), (1.0,), delay) for name in late.values()]  # type: ignore[arg-type]
    return blocks, [*joined, *(Coupling(source, name) for source, name in late.items())]
