"""Records what is asked of a network beside its verdict, and what is answered: numbers for programs, lines for people.

Where the time ends, the answers that were found stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from coherence.base.number_text import render_seconds
from coherence.loops.analysis.render_margins import render_at
from coherence.loops.analysis.render_network import finite
from coherence.loops.margins.stability_windows import Windows
from coherence.loops.waves.network_gain import NetworkPath

KINDS = ("critical gain", "critical delay", "gain windows", "delay windows", "peak", "along", "interaction", "map")


@dataclass(frozen=True)
class NetworkQuestion:
    """`kind` is one of `KINDS`, about some `blocks` together; of a peak `source` and `target` (None: all blocks)."""

    kind: str
    blocks: tuple[str, ...] = ()
    up_to: float | None = None
    source: str | None = None
    target: str | None = None


@dataclass(frozen=True)
class Answer:
    """What is known of a question: `numbers` for programs, `lines` for people; `open`: it is not answered."""

    kind: str
    blocks: tuple[str, ...]
    numbers: Mapping[str, Any]
    lines: tuple[str, ...]
    open: bool = False


@dataclass(frozen=True)
class MapRow:
    """The stable windows of extra delay (s) with a factor on a gain; `gap` says what is not certain, or is empty."""

    factor: float
    stable: tuple[tuple[float, float], ...]
    gap: str = ""


def unanswered(kind: str, blocks: tuple[str, ...], why: str) -> Answer:
    """Returns an answer that says why there is none."""
    return Answer(kind, blocks, {"reason": why}, (f"undecided: {why}",), open=True)


def of_critical(
    question: NetworkQuestion, at: float | None, proved: float | None, frequency: float | None, reason: str
) -> Answer:
    """Returns the answer of a critical gain or delay; `at` None: none was met up to `proved`."""
    what = question.kind.removeprefix("critical ")
    numbers = {
        "at": at, "proved": finite(proved), "frequency_rad_per_s": frequency,
        "unit": "factor" if what == "gain" else "s", "reason": reason,
    }  # fmt: skip
    if at is None:
        upto = f" up to {_amount(proved, what)}" if proved is not None else ""
        line = f"undecided: {reason}" if reason and proved is None else f"none{upto}{f': {reason}' if reason else ''}"
        return Answer(question.kind, question.blocks, numbers, (line,), open=bool(reason))
    return Answer(question.kind, question.blocks, numbers, (f"{_amount(at, what)}{render_at(frequency)}",))


def _amount(number: float, what: str) -> str:
    return f"times {number:.8g}" if what == "gain" else f"{render_seconds(float(f'{number:.6g}'))} more"


def of_windows(question: NetworkQuestion, windows: Windows) -> Answer:
    """Returns the answer of windows of a gain or a delay."""
    rows = [
        {"from": w.low, "to": w.high, "verdict": w.stability.verdict, "frequency_rad_per_s": w.frequency}
        for w in windows.windows
    ]
    unit = "factor" if question.kind == "gain windows" else "s"
    alike = (list(group) for _, group in groupby(windows.windows, key=lambda w: w.stability.verdict))
    lines = [f"{_span(g[0].low, g[-1].high, unit)}: {g[0].stability.verdict}" for g in alike]
    lines += [windows.gap] if windows.gap else []
    numbers = {"unit": unit, "windows": rows, "gap": windows.gap}
    return Answer(question.kind, question.blocks, numbers, tuple(lines), open=bool(windows.gap))


def _span(low: float, high: float, unit: str) -> str:
    if unit == "factor":
        return f"times {low:.6g} to {high:.6g}"
    return f"{render_seconds(float(f'{low:.6g}'))} to {render_seconds(float(f'{high:.6g}'))}"


def of_map(question: NetworkQuestion, rows: Sequence[MapRow], longest: float) -> Answer:
    """Returns the answer of a map of gain and delay."""
    numbers = {
        "unit": "s of extra delay", "longest": longest,
        "rows": [{"factor": row.factor, "stable": [list(s) for s in row.stable], "gap": row.gap} for row in rows],
    }  # fmt: skip
    lines = [
        f"times {row.factor:.4g}: {', '.join(_span(*span, 's') for span in row.stable) or 'not stable'}" for row in rows
    ]
    gaps = list(dict.fromkeys(row.gap for row in rows if row.gap))
    return Answer(question.kind, question.blocks, numbers, (*lines, *gaps), open=bool(gaps))


def of_path(question: NetworkQuestion, path: NetworkPath) -> Answer:
    """Returns the answer of a path: what a disturbance at its first block does at each of its tiers."""
    verdict = path.verdict
    tiers = [
        {
            "block": t.tier, "gain": t.gain, "bound": finite(t.bound), "frequency_rad_per_s": finite(t.frequency),
            "ratio": finite(t.ratio), "variance_ratio": t.variance_ratio,
        }
        for t in path.tiers
    ]  # fmt: skip
    lines = [
        f"{t.tier}: {t.gain:.6g}{render_at(t.frequency)}, {t.ratio:.4g} times the tier before"
        + (f"; variance times {t.variance_ratio:.6g}" if t.variance_ratio is not None else "")
        for t in path.tiers
    ]
    grows = {"stable": "no", "unstable": "yes"}.get(verdict.verdict, "undecided")
    numbers = {"grows": grows, "reason": verdict.reason, "tiers": tiers}
    head = f"grows: {grows} ({verdict.reason})"
    return Answer(question.kind, question.blocks, numbers, (head, *lines), open=grows == "undecided")
