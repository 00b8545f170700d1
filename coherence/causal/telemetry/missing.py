"""Reports what was missing: of each signal, of each file, and between the design and the telemetry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coherence.base.errors import did_you_mean
from coherence.base.number_text import render_decimal
from coherence.base.units import shorten
from coherence.causal.data.series import Excluded, Floats, Series
from coherence.causal.telemetry.alignment import factor_of, spacings_of
from coherence.causal.telemetry.header import signal_and_labels
from coherence.causal.telemetry.problems import several
from coherence.causal.telemetry.resampling import resets
from coherence.causal.telemetry.skew import Skew, skews
from coherence.simulate.telemetry.contract import Origin, Samples, Signal, Telemetry


@dataclass(frozen=True)
class SignalGaps:
    """One signal.  `expected`: samples at its own spacing over the time of all; `empty`: times of the clock without."""

    name: str
    source: str
    kind: str
    unit: str
    samples: int
    expected: int
    missing: int
    not_a_number: int
    infinite: int
    resets: int
    spacing: float  # s
    longest_gap: float  # s without a sample, from the start of all to their end
    empty: int | None  # None: not on the clock
    of: int


@dataclass(frozen=True)
class TelemetryReport:
    """All that is not there, or not as it looks."""

    rows: tuple[SignalGaps, ...]
    files: tuple[Origin, ...]
    skews: tuple[Skew, ...]
    excluded: tuple[Excluded, ...]
    without_column: tuple[tuple[str, str], ...]  # signal of the design, and what its column may be called
    without_signal: tuple[str, ...]
    notes: tuple[str, ...]
    step: float
    times: int
    start: float
    end: float


def report(telemetry: Telemetry, series: Series, *, wanted: Iterable[str] = ()) -> TelemetryReport:
    """Compare telemetry with its series, and with the signals `wanted` by the design (none: not compared)."""
    spacings = spacings_of(telemetry)
    span = (float(telemetry.grid[0]), float(telemetry.grid[-1])) if len(telemetry.grid) else (0.0, 0.0)
    clocks = _SharedClocks(span)
    empty = dict(zip(series.names, np.isnan(series.values).sum(axis=0).tolist(), strict=True))
    rows = tuple(
        _row(signal, telemetry[signal.name], spacings.get(signal.name, 0.0), clocks,
             (empty.get(signal.name), len(series), len(telemetry.grid)))
        for signal in telemetry.signals
    )  # fmt: skip
    names, design = dict.fromkeys(signal.name for signal in telemetry.signals), dict.fromkeys(wanted)
    present = {signal_and_labels(name)[0] for name in names}.union(names)  # members of a fleet have columns
    without_column = tuple((name, did_you_mean(name, names)) for name in design if name not in present)
    unknown = (name for name in names if not {name, signal_and_labels(name)[0]} & design.keys())
    without_signal = tuple(unknown) if design else ()
    ends = (float(series.times[0]), float(series.times[-1])) if len(series) else span
    return TelemetryReport(
        rows, telemetry.origins, skews(telemetry), series.excluded, without_column, without_signal,
        (*_coarse(rows, series.step), *_copies(series), *_odd(telemetry)), series.step, len(series), *ends,
    )  # fmt: skip


class _SharedClocks:
    """Slots and gaps of the times of signals, once for times that many of them share."""

    def __init__(self, span: tuple[float, float]) -> None:
        self.span = span
        self._known: dict[tuple[int, float], tuple[int, float]] = {}

    def of(self, times: Floats, spacing: float) -> tuple[int, float]:
        """Returns how many slots of a spacing the times fill, and their longest gap."""
        key = id(times), spacing  # the telemetry holds them while this is used
        if key not in self._known:
            slots = len(np.unique(np.round((times - self.span[0]) / spacing))) if spacing else len(times)
            longest = float(np.diff(np.concatenate([[self.span[0]], times, [self.span[1]]])).max())
            self._known[key] = slots, longest
        return self._known[key]


def _row(
    signal: Signal, samples: Samples, spacing: float, clocks: _SharedClocks, counts: tuple[int | None, int, int]
) -> SignalGaps:
    """`counts`: times of the clock without the signal (None: not on it), times of the clock, times of all samples."""
    span, (empty, of, all_times) = clocks.span, counts
    expected = round((span[1] - span[0]) / spacing) + 1 if spacing else max(len(samples), min(1, all_times))
    slots, longest = clocks.of(samples.times, spacing)
    missing = infinite = 0
    if not np.isfinite(samples.values).all():
        gaps = np.isnan(samples.values)
        missing, infinite = int(gaps.sum()), int(np.isinf(samples.values).sum())
        there = samples.times[~gaps]
        longest = float(np.diff(np.concatenate([[span[0]], there, [span[1]]])).max())
    falls = resets(samples.values) if signal.kind == "counter" else 0
    return SignalGaps(
        signal.name, signal.source, signal.kind, signal.unit, len(samples), expected, max(0, expected - slots),
        missing, infinite, falls, spacing, longest, empty, of,
    )  # fmt: skip


def _coarse(rows: Sequence[SignalGaps], step: float) -> list[str]:
    """Signals that are sampled more seldom than the clock ticks."""
    slow = [row for row in rows if row.spacing > 1.5 * step]
    if not slow:
        return []
    longest = max(row.spacing for row in slow)
    shown = ", ".join(shorten(row.name) for row in slow[:3]) + (", ..." if len(slow) > 3 else "")
    some = several(len(slow), "signal is sampled", "signals are sampled")
    better = f"a step of {render_decimal(longest)} s would lose no time"
    return [f"{some} more seldom than every {render_decimal(step)} s: {shown}; {better}"]


def _copies(series: Series) -> list[str]:
    groups: dict[bytes, list[str]] = {}
    for column, name in enumerate(series.names):
        groups.setdefault(np.ascontiguousarray(series.values[:, column]).tobytes(), []).append(name)
    return [
        f"{' and '.join(names)} are equal at every time: their shares cannot be told apart"
        for names in groups.values()
        if len(names) > 1
    ]


def _odd(telemetry: Telemetry) -> list[str]:
    """Units that are not known, and counters that fall as if they wrapped."""
    remarks = []
    for signal in telemetry.signals:
        name = shorten(signal.name)
        if factor_of(signal)[1] is None:
            remarks.append(f"{name}: the unit '{shorten(signal.unit)}' is not known, its values stay as they are")
        levels = telemetry[signal.name].values
        if signal.kind == "counter" and len(levels) > 1:
            before = levels[:-1][np.diff(levels) < 0]
            remarks += [
                f"{name}: falls just below 2^{bits}; if it goes on from 0 there, state wraps={bits}"
                for bits in (16, 32, 64)
                if len(before) and ((before > 0.9 * 2.0**bits) & (before <= 2.0**bits)).all()
            ]
    return remarks


# -- in words -----------------------------------------------------------------------------------------


def render_report(gaps: TelemetryReport, *, most: int = 40) -> list[str]:
    """The report for a terminal; the table shows signals with something missing first, `most` of them."""
    text_lines = [_size(gaps)]
    for file in gaps.files:
        text_lines.append(
            f"  {file.name}: {file.form}, {several(file.rows, 'row')}, {several(len(file.signals), 'signal')}; "
            f"{file.clock}"
        )
        text_lines += [f"    {note}" for note in file.notes]
    rows = sorted(gaps.rows, key=lambda row: (_whole(row), row.name))
    text_lines += ["", *_table(rows[:most])]
    if len(rows) > most:
        text_lines.append(f"  and {several(len(rows) - most, 'more signal')}")
    text_lines += _list("clocks", map(str, gaps.skews))
    text_lines += _list(
        "left out", (f"{one.what}: {one.why}" + (f" ({one.remedy})" if one.remedy else "") for one in gaps.excluded)
    )
    text_lines += _list(
        "signals of the design without a column", (f"{n}: {near}" if near else n for n, near in gaps.without_column)
    )
    text_lines += _list("columns that are no signal of the design", gaps.without_signal)
    return text_lines + _list("to know", gaps.notes)


def _size(gaps: TelemetryReport) -> str:
    return f"{several(len(gaps.rows), 'signal')}, {several(gaps.times, 'time')} every {render_decimal(gaps.step)} s"


def render_brief(gaps: TelemetryReport) -> list[str]:
    """Its size, and one line for each kind of what is not there or not as it looks."""
    lacking = {
        "with something missing": [row.name for row in gaps.rows if not _whole(row)],
        "clocks apart": [str(skew) for skew in gaps.skews],
        "left out": [one.what for one in gaps.excluded],
        "of the server": [note for file in gaps.files for note in file.notes if note.startswith("the server ")],
        "without a column": [name for name, _ in gaps.without_column],
        "columns that are no signal of the design": gaps.without_signal,
        "to know": gaps.notes,
    }
    return [_size(gaps), *(f"{title}: {_several_of(names)}" for title, names in lacking.items() if names)]


def _several_of(names: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(" ".join(name.split()) for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def _whole(row: SignalGaps) -> bool:
    return not (row.missing or row.not_a_number or row.infinite or row.resets)


def _table(rows: Sequence[SignalGaps]) -> list[str]:
    head = ("signal", "unit", "kind", "samples", "expected", "missing", "nan", "inf", "resets", "longest gap")
    cells = [head] + [
        (shorten(row.name), row.unit, row.kind, f"{row.samples:,}", f"{row.expected:,}", f"{row.missing:,}",
         f"{row.not_a_number:,}", f"{row.infinite:,}", f"{row.resets:,}",
         f"{render_decimal(round(row.longest_gap, 3))} s")
        for row in rows
    ]  # fmt: skip
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    texts = 3
    return [
        "  "
        + "  ".join(c.ljust(w) if i < texts else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in cells
    ]


def _list(title: str, entries: Iterable[str], most: int = 20) -> list[str]:
    found = [" ".join(entry.split()) for entry in entries]
    more = [f"  and {len(found) - most:,} more"] if len(found) > most else []
    return ["", f"{title}:", *(f"  {entry}" for entry in found[:most]), *more] if found else []


def report_to_dict(gaps: TelemetryReport) -> dict[str, Any]:
    """The same for programs; times in seconds."""
    return {
        "step": gaps.step, "times": gaps.times, "start": gaps.start, "end": gaps.end,
        "signals": _fields(gaps.rows),
        "files": [
            {"name": f.name, "form": f.form, "clock": f.clock, "rows": f.rows, "signals": list(f.signals),
             "notes": list(f.notes)}
            for f in gaps.files
        ],
        "clocks": _fields(gaps.skews),
        "excluded": [{"what": one.what, "why": one.why, "remedy": one.remedy} for one in gaps.excluded],
        "without_column": [name for name, _ in gaps.without_column],
        "without_signal": list(gaps.without_signal),
        "notes": list(gaps.notes),
    }  # fmt: skip


def _fields(rows: Sequence[SignalGaps] | Sequence[Skew]) -> list[dict[str, Any]]:
    import dataclasses

    names = [field.name for field in dataclasses.fields(rows[0])] if rows else []
    return [{name: getattr(row, name) for name in names} for row in rows]
