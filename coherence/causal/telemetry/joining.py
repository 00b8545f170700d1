"""Joins the parts of several files on one clock.

One name in two files: where their times do not overlap, or agree wherever they meet, it is one signal (rotated files);
else each is `file.signal`, since two pods that both write `cpu` are two signals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from coherence.causal.telemetry.clocks import LOW
from coherence.causal.telemetry.parts import TelemetryPart
from coherence.causal.telemetry.problems import refuse, several
from coherence.simulate.telemetry.contract import Origin, Samples, Signal, Telemetry


def joined(parts: Sequence[TelemetryPart]) -> Telemetry:
    """Telemetry of the parts.  Raises InputError where one counts from a start and another from 1970."""
    _one_clock(parts)
    ends = stems([part.origin.name for part in parts])
    homes: dict[str, list[int]] = {}
    for index, part in enumerate(parts):
        for signal, _ in part.columns:
            homes.setdefault(signal.name, []).append(index)
    apart = _apart(parts, homes)
    samples: dict[str, Samples] = {}
    signals: dict[str, Signal] = {}
    origins = []
    for index, part in enumerate(parts):
        renamed = []
        for signal, column in part.columns:
            alone = not (signal.name in apart and len(homes[signal.name]) > 1)
            name = signal.name if alone else _free(f"{ends[index]}.{signal.name}", homes)
            renamed.append(name)
            same = name == signal.name and signal.source
            source = signal.source or part.origin.name
            signals.setdefault(name, signal if same else Signal(name, signal.unit, signal.kind, source))
            samples[name] = _merged(samples[name], column) if name in samples else column
        origins.append(_origin(part, renamed))
    order = sorted(signals)
    grid = np.unique(np.concatenate([part.grid for part in parts])) if len(parts) > 1 else parts[0].grid
    causes = tuple(cause for part in parts for cause in part.causes)
    return Telemetry(
        tuple(signals[name] for name in order), {name: samples[name] for name in order}, grid, causes, tuple(origins)
    )


def _origin(one: TelemetryPart, renamed: Sequence[str]) -> Origin:
    changed = sum(name != signal.name for name, (signal, _) in zip(renamed, one.columns, strict=True))
    told = [f"{several(changed, 'name')} also in another file at the same times: called file.signal"] if changed else []
    old = one.origin
    return Origin(old.name, old.form, old.clock, tuple(renamed), old.rows, (*old.notes, *told), old.left_out)


def _one_clock(parts: Sequence[TelemetryPart]) -> None:
    since = [part for part in parts if len(part.grid) and part.grid[-1] >= LOW]
    start = [part for part in parts if len(part.grid) and part.grid[-1] < LOW]
    if since and start:
        raise refuse(
            start[0].origin.name, 1,
            f"its times are seconds from a start, those of {since[0].origin.name} since 1970",
            "write one clock in all files, or read them one by one",
        )  # fmt: skip


def _apart(parts: Sequence[TelemetryPart], homes: dict[str, list[int]]) -> set[str]:
    """Names that several files hold at the same times, and other shared names of these files."""
    shared = {name: at for name, at in homes.items() if len(at) > 1}
    names = {
        index: {signal.name: one for signal, one in parts[index].columns} for at in shared.values() for index in at
    }
    clashing: set[int] = set()
    for name, at in shared.items():
        if not _continue(names[index][name] for index in at) or len({_facts(parts[i], name) for i in at}) > 1:
            clashing.update(at)
    return {name for name, at in shared.items() if len(clashing.intersection(at)) > 1}


def _facts(one: TelemetryPart, name: str) -> tuple[str, str]:
    return next((signal.unit, signal.kind) for signal, _ in one.columns if signal.name == name)


def _continue(many: Iterable[Samples]) -> bool:
    """Does each begin after the one before, or agree with it from there on?"""
    spans = sorted((one for one in many if len(one)), key=lambda one: float(one.times[0]))
    return all(two.times[0] > one.times[-1] or _agree(one, two) for one, two in pairwise(spans))


def _agree(here: Samples, there: Samples) -> bool:
    low, high = there.times[0], min(here.times[-1], there.times[-1])
    first, second = ((s.times >= low) & (s.times <= high) for s in (here, there))
    return np.array_equal(here.times[first], there.times[second]) and np.array_equal(
        here.values[first], there.values[second], equal_nan=True
    )


def _merged(one: Samples, two: Samples) -> Samples:
    times, first = np.unique(np.concatenate([one.times, two.times]), return_index=True)
    return Samples(times, np.concatenate([one.values, two.values])[first])


def stems(files: Sequence[str]) -> list[str]:
    """The shortest ends of the paths that tell the files apart."""
    paths = [Path(file).with_suffix("").parts for file in files]
    for depth in range(1, max(map(len, paths), default=0) + 1):
        names = [".".join(pieces[-depth:]) for pieces in paths]
        if len(set(names)) == len(names):
            return names
    return list(files)


def _free(name: str, taken: dict[str, list[int]]) -> str:
    while name in taken:
        name = f"'{name}'"
    return name
