"""Decides a whole box of uncertain values by halving it: what the search for critical gains is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.networks.critical_boxes import Range, at_middle, holds_throughout, replaced
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Network


@dataclass(frozen=True)
class BoxVerdict:
    """`verdict`: stable or unstable for all values, "changes" within the ranges, or undecided.

    `stable_at` and `unstable_at` are examples; `open` are boxes that were not decided, `boxes` how many were looked at.
    """

    verdict: str
    reason: str
    stable_at: tuple[Range, ...] | None = None
    unstable_at: tuple[Range, ...] | None = None
    open: tuple[tuple[Range, ...], ...] = ()
    boxes: int = 0


def box_verdict(network: Network, ranges: Iterable[Range], *, most: int = 2000) -> BoxVerdict:
    """Returns the verdict for all values in the ranges, by at most `most` boxes.

    "changes" as soon as one box is proved stable and another one proved unstable.
    """
    start = tuple(ranges)
    _checked(network, start)
    waiting, undecided, examples, looked = [start], list[tuple[Range, ...]](), dict[str, tuple[Range, ...]](), 0
    while waiting and looked < most and len(examples) < 2:
        box = waiting.pop(0)
        looked += 1
        middle = verdict(at_middle(network, box), confirm=False)
        if middle.verdict in ("stable", "unstable"):
            examples.setdefault(middle.verdict, tuple(replaced(r, r.middle) for r in box))
            if holds_throughout(network, box):
                continue
        halves = _halved(box, start)
        waiting += halves
        undecided += [] if halves else [box]
    return _summary(examples, [*undecided, *waiting], looked)


def _summary(examples: dict[str, tuple[Range, ...]], left: list[tuple[Range, ...]], looked: int) -> BoxVerdict:
    stable, unstable = examples.get("stable"), examples.get("unstable")
    if stable and unstable:
        return BoxVerdict("changes", "stable and unstable values lie in the ranges", stable, unstable, (), looked)
    if left or not examples:
        reason = f"{len(left)} boxes are not decided after {looked}"
        return BoxVerdict("undecided", reason, stable, unstable, tuple(left[:20]), looked)
    kind = "stable" if stable else "unstable"
    return BoxVerdict(kind, f"no root reaches the axis in any of {looked} boxes", stable, unstable, (), looked)


def _checked(network: Network, ranges: Sequence[Range]) -> None:
    for varied in ranges:
        if varied.block not in network.index or varied.what not in ("gain", "delay", "numerator", "denominator"):
            raise UsageError(f"the range of {varied.what} of '{varied.block}' names no block or nothing that can vary")
        if not varied.low <= varied.high or (varied.what == "delay" and varied.low < 0):
            raise UsageError(
                f"the range of {varied.what} of {varied.block} runs from {varied.low:g} to {varied.high:g}"
            )
        if varied.what == "denominator" and varied.index == 0:
            raise UsageError(f"the leading coefficient of {varied.block} cannot vary: divide the others by it")


def _halved(box: Sequence[Range], start: Sequence[Range]) -> list[tuple[Range, ...]]:
    """Returns two boxes, cut across the relatively widest range; none where all are narrow."""
    shares = [(widest.half / whole.half) if whole.half else 0.0 for widest, whole in zip(box, start, strict=True)]
    k = int(np.argmax(shares))
    if shares[k] < 1e-6:
        return []
    widest = box[k]
    lower = Range(widest.block, widest.what, widest.low, widest.middle, widest.index)
    parts = (lower, Range(widest.block, widest.what, widest.middle, widest.high, widest.index))
    return [(*box[:k], part, *box[k + 1 :]) for part in parts]
