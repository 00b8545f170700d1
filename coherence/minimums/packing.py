"""Packs whole things into whole containers: lower bounds, exact packings of small instances, slices.

SOURCE: S. Martello and P. Toth 1990 (L1, L2); D. Johnson 1973 (first fit decreasing).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from coherence.base.errors import UsageError

SMALL = 14  # items that are packed in every way


def checked(sizes: Sequence[Fraction | int], capacity: Fraction | int) -> list[Fraction]:
    """Returns the sizes, largest first.  Raises UsageError for one that fits no bin."""
    if capacity <= 0:
        raise UsageError(f"a bin of {float(capacity):g} holds nothing: give its capacity")
    if not sizes:
        raise UsageError("no items: give at least one size")
    wrong = next((size for size in sizes if not 0 < size <= capacity), None)
    if wrong is not None:
        raise UsageError(f"an item of {float(wrong):g} does not fit a bin of {float(capacity):g}")
    return sorted((Fraction(size) for size in sizes), reverse=True)


def by_volume(sizes: Sequence[Fraction | int], capacity: Fraction | int) -> int:
    """Returns the bound L1: the sum of the sizes, in bins."""
    return math.ceil(sum(checked(sizes, capacity), Fraction(0)) / Fraction(capacity))


def by_halves(sizes: Sequence[Fraction | int], capacity: Fraction | int) -> int:
    """Returns the bound L2: two items above one half share no bin; items of `least` and more fill the rest."""
    items, room = checked(sizes, capacity), Fraction(capacity)
    best = by_volume(sizes, capacity)
    for least in {Fraction(0), *(size for size in items if 2 * size <= room)}:
        alone = [size for size in items if size > room - least]
        large = [size for size in items if room / 2 < size <= room - least]
        small = sum((size for size in items if least <= size <= room / 2), Fraction(0))
        over = small - (len(large) * room - sum(large, Fraction(0)))
        best = max(best, len(alone) + len(large) + max(0, math.ceil(over / room)))
    return best


def first_fit(sizes: Sequence[Fraction | int], capacity: Fraction | int) -> list[list[Fraction]]:
    """Returns a packing, largest items first."""
    bins: list[list[Fraction]] = []
    for size in checked(sizes, capacity):
        room = next((one for one in bins if sum(one) + size <= capacity), None)
        if room is None:
            bins.append([size])
        else:
            room.append(size)
    return bins


def fewest(sizes: Sequence[Fraction | int], capacity: Fraction | int) -> int:
    """Returns the fewest bins, by trying every packing of a small instance.  Raises UsageError for more than 14
    items."""
    items = checked(sizes, capacity)
    if len(items) > SMALL:
        raise UsageError(f"{len(items)} items: every packing is tried of up to {SMALL}")
    best, floor = len(first_fit(items, capacity)), by_volume(items, capacity)

    def place(index: int, bins: list[Fraction]) -> None:
        nonlocal best
        if len(bins) >= best or best == floor:
            return
        if index == len(items):
            best = len(bins)
            return
        for k, filled in enumerate(bins):
            if filled + items[index] <= capacity and filled not in bins[:k]:
                place(index + 1, [*bins[:k], filled + items[index], *bins[k + 1 :]])
        place(index + 1, [*bins, items[index]])

    place(0, [])
    return best


def script(sizes: Sequence[int], capacity: int, bins: int) -> str:
    """Returns an SMT-LIB script that is satisfiable where the whole items fit so many bins."""
    lines = ["(set-logic QF_LIA)"]
    for k, _ in enumerate(sizes):
        lines += [f"(declare-const x{k}_{b} Bool)" for b in range(bins)]
        lines.append(f"(assert (or {' '.join(f'x{k}_{b}' for b in range(bins))} false))")
    for b in range(bins):
        filled = " ".join(f"(ite x{k}_{b} {size} 0)" for k, size in enumerate(sizes))
        lines.append(f"(assert (<= (+ {filled} 0) {capacity}))")
    return "\n".join([*lines, "(check-sat)"]) + "\n"


def slices(whole: Sequence[Fraction | int], each: Sequence[Fraction | int]) -> int:
    """Returns how many equal slices are cut, one after the other, until one resource is short."""
    left, count = list(whole), 0
    if not any(part > 0 for part in each):
        raise UsageError("a slice that takes nothing fits without end: give what it takes")
    while all(have >= part for have, part in zip(left, each, strict=True)):
        left = [have - part for have, part in zip(left, each, strict=True)]
        count += 1
    return count
