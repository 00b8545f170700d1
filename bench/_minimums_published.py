"""Floors beside published measurements: none may lie above one.

SOURCE: V. Korthikanti et al., "Reducing activation recomputation in large transformer models", MLSys 2023, tables 3
and 5 (A100, sequences of 2,048); NVIDIA nccl-tests issues 212 and 272 and nccl issue 1455 (eight H100 or H200 on links
of 450 GB/s, rings); D. Narayanan et al., SC 2021; The Llama 3 herd of models, 2024 (54 days on 16,384 H100).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from bench.harness import Row
from coherence.minimums.floors import Number, at
from coherence.minimums.registry import entry

A100 = Fraction(312 * 10**12)
# name: batch, layers, width, stages, blocks of a device, units; seconds of a step with full and selective recomputation
MEGATRON: dict[str, tuple[tuple[int, int, int, int, int, int], tuple[str, str]]] = {
    "22B": ((4, 48, 6144, 1, 1, 8), ("1.42", "1.10")),
    "175B": ((64, 96, 12288, 8, 3, 64), ("18.13", "13.75")),
    "530B": ((280, 105, 20480, 35, 3, 280), ("49.05", "37.83")),
    "1T": ((512, 128, 25600, 64, 1, 512), ("94.42", "71.49")),
}


def value(name: str, **inputs: Number) -> Number:
    """A bound at inputs."""
    return at(entry(name).bound, inputs)


def compute_floor(name: str) -> Number:
    """Operations of the model over the peak of all its units, in seconds."""
    batch, layers, width, _, _, units = MEGATRON[name][0]
    operations = value("transformer_operations", batch=batch, sequence=2048, layers=layers, width=width)
    return value("compute_time", operations=operations, units=units, peak=A100)


def compared() -> Iterator[tuple[str, float]]:
    """(what, floor over published measurement); the denominator is the measurement."""
    for name, (_, steps) in MEGATRON.items():
        for seconds in steps:
            yield f"{name} in {seconds} s", float(compute_floor(name) / Fraction(seconds))
    for members, bus in ((8, 370), (4, 365)):  # rings: bus bandwidth is data over time times 2 (n - 1)/n
        spent = Fraction(2 * (members - 1), members * bus)
        floor = value("all_reduce_end_point", n=members, size=1, bandwidth=450)
        yield f"all-reduce of {members} at {bus} GB/s", float(floor / spent)
    reduced = value("all_reduce_in_network", n=8, size=1, bandwidth=450)
    yield "all-reduce of 8 in switches at 480 GB/s", float(reduced / Fraction(2 * 7, 8 * 480))
    work = value("compute_time", operations=38 * 10**24, units=16384, peak=989 * 10**12)
    yield "54 days of Llama 3 405B", float(work) / (54 * 86400)


def rows() -> Iterator[Row]:
    """All rows of this part."""
    found = dict(compared())
    above = [name for name, share in found.items() if share > 1]
    told = f"of {len(found)}; floor over measured {min(found.values()):.2f} to {max(found.values()):.2f}"
    yield Row("floors above published measurements", len(above), "== 0", "floors", ", ".join(above) or told)
    steps = [share for name, share in found.items() if name.split()[0] in MEGATRON]
    yield Row("published steps: least floor over measured", min(steps), ">= 0.31", "of the step", f"{len(steps)} rows")
    yield Row(
        "published steps: largest floor over measured", max(steps), "<= 0.57", "of the step", f"{len(steps)} rows"
    )
    switched = float(value("all_reduce_end_point", n=8, size=1, bandwidth=450) / Fraction(2 * 7, 8 * 480))
    yield Row(
        "end-point floor over a measurement with switches that add", switched, ">= 1", "times", "assumption refuted"
    )
