"""Reads fabrics and demands as they are written on a command line.

`dgx1`, `ring:8`, `torus:4x4x4`, `leaf_spine:4x16x4` (leaves, hosts at each, spines), each with `:RATE` (the last one
of hosts and of uplinks); links `a>b:50GB/s,b>c:50GB/s:1us`, each with its rate both ways and what it adds to the time
of a message, or `a>>b:RATE` one way; a time at the end of a shape, `ring:8:50GB/s:1us`, is that of each of its links;
`@FILE`: a link in each line, or the tiers and links of a design.  What ends in `*` is a switch, in `+` one that adds.
Without a rate it is 1 B/s.  Demands: `a>b:5GB`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import PurePath

from coherence.base import units
from coherence.base.errors import UsageError, did_you_mean
from coherence.language.document import decode
from coherence.language.reading import read_bytes, read_text
from coherence.minimums.fabric.design_fabrics import most, parts
from coherence.minimums.fabric.wiring import Check, Fabric, Wire, both, connected, dgx1, fabric, leaf_spine, ring, torus

MEMBERS = 512  # devices of a design up to which each of them is a member of its own
LARGEST = 100_000  # members of a shape
Sizes = tuple[int, ...]
Rates = tuple[Fraction, ...]
SHAPES: Mapping[str, tuple[int, int, Callable[[Sizes, Rates], Fabric]]] = {  # name -> sizes (0: any), rates, shape
    "dgx1": (0, 1, lambda _, rates: dgx1(*rates)),
    "ring": (1, 1, lambda sizes, rates: ring(*sizes, *rates)),
    "torus": (0, 1, lambda sizes, rates: torus(sizes, *rates)),
    "leaf_spine": (3, 2, lambda sizes, rates: leaf_spine(*sizes, *(rates or (1, 1)))),
}


def written_fabric(text: str, *, check: Check = connected) -> Fabric:
    """Returns the fabric that a text means.  Raises UsageError, and InputError for a design.

    check: raises where too few members of links reach others.
    """
    if text.startswith("@"):
        return _of_file(text[1:], check)
    return _of_links(text.split(","), check) if ">" in text else _of_shape(text)


def written_demands(text: str) -> tuple[tuple[str, str, Fraction], ...]:
    """Returns from, to and bytes of each demand.  Raises UsageError."""
    parts = [part.partition(":") for part in text.split(",") if part.strip()]
    return tuple((*_ends(ends, ">"), _amount(bytes_, "B")) for ends, _, bytes_ in parts)


def _of_file(path: str, check: Check) -> Fabric:
    text = decode(read_bytes(path, path), path)
    if PurePath(path).suffix not in (".yaml", ".yml", ".json"):
        return _of_links(itertools.chain.from_iterable(line.split(",") for line in text.splitlines()), check)
    joined = [part for part in parts(read_text(text, path)) if part.links or len(part.tiers) == 1]
    if not joined:
        raise UsageError(f"{path} states no tiers: a fabric has devices that links join")
    part = max(joined, key=lambda part: len(part.links))
    if part.missing:
        raise UsageError(f"the fabric of {path} needs {'; '.join(part.missing)}")
    return part.fabric(most, apart=part.devices <= MEMBERS)


def _of_shape(text: str) -> Fabric:
    written, latency = _late(text)
    name, *rest = written.strip().split(":")
    if name not in SHAPES:
        hint = did_you_mean(name, SHAPES)
        raise UsageError(f"'{text}' is no fabric: {hint}; or write links, a>b:50GB/s,b>c:50GB/s, or @FILE")
    axes, rates, shape = SHAPES[name]
    sized = name != "dgx1"
    sizes = tuple(_count(one, text) for one in rest[0].split("x")) if sized and rest else ()
    given = tuple(_amount(one, "B/s") for one in rest[sized:])
    if (
        (sized and not sizes)
        or (axes and len(sizes) != axes)
        or len(given) not in ((rates,) if latency else (0, rates))
    ):
        sizes_text = {"ring": ":8", "torus": ":4x4x4", "leaf_spine": ":4x16x4"}.get(name, "")
        raise UsageError(f"'{text}': write {name}{sizes_text}, or with rates {name}{sizes_text}{':50GB/s' * rates}")
    shaped = shape(sizes, given)
    return replace(shaped, wires=tuple(replace(wire, latency=latency) for wire in shaped.wires))


def _count(text: str, whole: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) <= LARGEST or len(text) > len(str(LARGEST)):
        raise UsageError(f"'{text}' of '{whole}' is no count from 1 to {LARGEST}")
    return int(text)


def _of_links(links: Iterable[str], check: Check) -> Fabric:
    wires = list(itertools.chain.from_iterable(_link(link.strip()) for link in links if link.strip()))
    nodes = dict.fromkeys(itertools.chain.from_iterable((wire.source, wire.target) for wire in wires))
    made = fabric([node for node in nodes if node[-1] not in "*+"], wires, check=check)
    return replace(made, adding=frozenset(node for node in nodes if node.endswith("+")))


def _link(text: str) -> Iterator[Wire]:
    """Yields the wires of one link."""
    written, latency = _late(text)
    ends, _, rate = written.partition(":")
    rated = _amount(rate, "B/s") if rate else Fraction(1)
    if ">>" in ends:
        yield Wire(*_ends(ends, ">>"), rated, latency=latency)
    else:
        yield from both(*_ends(ends, ">"), rated, latency=latency)


def _late(text: str) -> tuple[str, Fraction]:
    """Returns the text without a time behind its rate, and that time (0 where none stands there)."""
    rest, _, last = text.rpartition(":")
    try:
        number, dimension = units.quantity(last.strip())
    except units.UnitError:
        return text, Fraction(0)
    if ":" not in rest or not dimension.fits(units.unit("s")[1]) or dimension.fits(units.ONE) or number < 0:
        return text, Fraction(0)
    return rest, Fraction(number)


def _ends(text: str, arrow: str) -> tuple[str, str]:
    near, _, far = (part.strip() for part in text.partition(arrow))
    if not near or not far or ">" in far:
        raise UsageError(f"'{text}' joins no two ends: write a{arrow}b")
    return near, far


def _amount(text: str, unit: str) -> Fraction:
    try:
        number, dimension = units.quantity(text.strip())
    except units.UnitError as error:
        raise UsageError(f"'{units.shorten(text)}': {error}; {error.remedy}") from None
    if not dimension.fits(units.unit(unit)[1]) or number <= 0:
        remedy = f"write for example 5 {unit.replace('B', 'GB')}"
        raise UsageError(f"'{units.shorten(text)}' is no amount above zero in {unit}: {remedy}")
    return Fraction(number)
