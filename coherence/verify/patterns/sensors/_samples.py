"""Windows of a sensor chain that need samples: which sampler feeds each, and whether it does so often enough."""

from __future__ import annotations

from collections.abc import Iterator

from coherence.language.design import Loop
from coherence.language.sentences import SensorLink

SAMPLERS = ("scrape", "relist")
NEEDED = {"rate": 2, "irate": 2, "last": 1}  # samples in the window


def windows(loop: Loop) -> Iterator[tuple[SensorLink | None, SensorLink]]:
    """(the sampler before it, if any; the window) of each window that needs samples."""
    sampler: SensorLink | None = None
    for link in loop.target.sensor if loop.target else ():
        if link.kind in SAMPLERS:
            sampler = link
        elif link.kind in NEEDED and link.duration is not None:
            yield sampler, link


def lacks_samples(loop: Loop) -> bool:
    """Returns whether at some moment a window of the chain holds too few samples for a value."""
    return any(
        sampler is not None and sampler.duration is not None and link.duration is not None
        and link.duration.low < NEEDED[link.kind] * sampler.duration.high
        for sampler, link in windows(loop)
    )  # fmt: skip
