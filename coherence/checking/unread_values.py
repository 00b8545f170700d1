"""Names what no answer about a piece of a design was computed from, part by part.

Parts share nothing, so that an answer about one is no reading of another, in whatever pieces they were asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter

from coherence.checking.slicing import Piece
from coherence.findings.finding import NotRead
from coherence.findings.not_read import Basis, Reasons, not_read
from coherence.language.design import Design
from coherence.language.entries.leaves import leaves
from coherence.model.independent_parts import SECTIONS, part_of, parts


def unread_values(piece: Piece, read: Iterable[Basis], reasons: Reasons) -> tuple[NotRead, ...]:
    """Returns the values of a piece that no answer was computed from."""
    bases, groups = list(read), () if piece.cut else parts(piece.design)
    if len(groups) < 2:
        return not_read(piece.design, bases, reasons)
    designs = [part_of(piece.design, group) for group in groups]
    return joined([not_read(part, _about(part, bases), reasons) for part in designs])


def joined(unread: Sequence[Sequence[NotRead]]) -> tuple[NotRead, ...]:
    """Returns the unread values of a design from those of its parts, in the order of their places.

    What is no entry of a part stands in all of them: it is unread where no part read it, and counts where it does in
    one.
    """
    own = [line for part in unread for line in part if line.section in SECTIONS]
    shared: dict[tuple[object, ...], list[NotRead]] = {}
    for line in (line for part in unread for line in part if line.section not in SECTIONS):
        shared.setdefault(line.order, []).append(line)
    everywhere = (
        replace(same[0], counts=any(line.counts for line in same))
        for same in shared.values()
        if len(same) == len(unread)
    )
    return tuple(sorted((*own, *everywhere), key=attrgetter("order")))


def _about(part: Design, read: Iterable[Basis]) -> list[Basis]:
    """Returns what answers that speak of a part were computed from."""
    values = list(leaves(part))
    names = {leaf.entry for leaf in values}
    lines = {(leaf.place.file, leaf.place.line) for leaf in values if leaf.section in SECTIONS}
    return [
        basis
        for basis in read
        if basis.of is None or not (names.isdisjoint(basis.of) and lines.isdisjoint(basis.spots))
    ]
