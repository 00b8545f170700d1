"""Reads a network of blocks, samplers and couplings from a small YAML or JSON file.

network: 1
blocks:
  queue: {numerator: [1], denominator: [1, 0], delay: 30 s}          # descending powers of s
  scaler: {numerator: [0.05], denominator: [1], rate: 15 s}           # rate: sampled, behind a zero-order hold
couplings:
  - {from: queue, to: scaler}
  - {from: scaler, to: queue, gain: -1}

`samplers` are those of `multirate.sampled_system`: polynomials in z of what is read, held until the next one lands.

samplers:
  scaler: {numerator: [0.05], denominator: [1, -1], period: 15 s, phase: 0 s, lands: 2 s, window: 60 s, rank: 1}

`exported` is what `coherence export` adds for other tools; nothing here is read of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from coherence.base import units
from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.language import document
from coherence.language.document import MAX_BYTES, Items, Node, Scalar, Table
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked
from coherence.loops.networks.network import Block, Coupling, Network, network

KEYS = ("network", "blocks", "samplers", "couplings", "exported")
BLOCK_KEYS = ("numerator", "denominator", "delay", "rate")
SAMPLER_KEYS = ("numerator", "denominator", "period", "phase", "lands", "window", "rank")
COUPLING_KEYS = ("from", "to", "gain")
RATIO = re.compile(r"-?\d{1,300}/\d{1,300}")

Part = TypeVar("Part")


def read_network(path: Path) -> Network | Multirate:
    """Returns the network of a file, a Multirate where it has samplers.

    Raises InputError with every problem and its place, UsageError if it has no meaning.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # one more is refused: a device has no end
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    problems: list[Problem] = []
    root = _root(data, path)
    _unknown(root, KEYS, problems)
    version = root.get("network")
    if not isinstance(version, Scalar) or version.text != "1":
        problems.append(Problem(root.key_place("network"), "the version of this file is 1", "write `network: 1`"))
    blocks = _parts(root, "blocks", _block, problems)
    samplers = _parts(root, "samplers", _sampler, problems)
    couplings = _couplings(root, (*blocks, *samplers), problems)
    if problems:
        raise InputError(problems)
    if samplers:
        return checked(samplers.values(), blocks.values(), couplings)
    return network(blocks.values(), (Coupling(c.source, c.target, float(c.gain)) for c in couplings))


def is_network(root: Node | None) -> bool:
    """Decides whether a document is a network and no design."""
    return isinstance(root, Table) and "network" in root and ("blocks" in root or "samplers" in root)


def _root(data: bytes, path: Path) -> Table:
    documents = document.read(data, str(path))
    root = documents[0].root if documents else None
    if not is_network(root):
        place = root.place if root is not None else _start(path)
        remedy = "begin with `network: 1`, then `blocks:` and `couplings:`"
        raise InputError([Problem(place, "this is no network of blocks", remedy)])
    assert isinstance(root, Table)
    return root


def _parts(
    root: Table, key: str, read: Callable[[str, Node, list[Problem]], Part | None], problems: list[Problem]
) -> dict[str, Part]:
    """Returns the blocks or the samplers by name."""
    table = root.get(key)
    if table is None or (isinstance(table, Table) and not table.entries and key == "blocks" and "samplers" in root):
        return {}
    if not isinstance(table, Table) or not table.entries:
        problems.append(Problem(root.key_place(key), f"{key} is no mapping of names to {key}", f"name one {key[:-1]}"))
        raise InputError(problems)
    parts = ((name, read(name, node, problems)) for name, node in table.entries.items())
    return {name: part for name, part in parts if part is not None}


def _couplings(root: Table, names: tuple[str, ...], problems: list[Problem]) -> list[Coupling]:
    listed = root.get("couplings")
    if listed is not None and not isinstance(listed, Items):
        problems.append(Problem(listed.place, "couplings is no list", "write `- {from: a, to: b, gain: -1}`"))
    nodes = list(listed) if isinstance(listed, Items) else []
    couplings = (_coupling(node, names, problems) for node in nodes)
    return [coupling for coupling in couplings if coupling is not None]


def _start(path: Path) -> Any:
    from coherence.base.places import Place

    return Place(str(path), 1, 1, 1, 1)


def _unknown(table: Table, known: tuple[str, ...], problems: list[Problem]) -> None:
    strange = (key for key in table.entries if key not in known)
    problems += [Problem(table.key_place(key), f"unknown key '{key}'", did_you_mean(key, known)) for key in strange]


def _block(name: str, node: Node, problems: list[Problem]) -> Block | None:
    if not isinstance(node, Table):
        problems.append(Problem(node.place, f"{name} is no block", "write {numerator: [1], denominator: [1, 0]}"))
        return None
    _unknown(node, BLOCK_KEYS, problems)
    numerator, denominator = (_polynomial(node, key, problems) for key in ("numerator", "denominator"))
    delay, rate = _number(node.get("delay"), problems), _number(node.get("rate"), problems)
    if delay is not None and delay < 0:
        problems.append(Problem(node.get("delay").place, "a delay is >= 0"))  # type: ignore[union-attr]
    if rate is not None and not rate > 0:
        problems.append(Problem(node.get("rate").place, "a sampling period is > 0"))  # type: ignore[union-attr]
    rows = (tuple(map(float, numerator)), tuple(map(float, denominator)))
    return Block(name, *rows, float(delay or 0.0), None if rate is None else float(rate))


def _sampler(name: str, node: Node, problems: list[Problem]) -> Sampler | None:
    if not isinstance(node, Table):
        problems.append(Problem(node.place, f"{name} is no sampler", "write {numerator: [1], period: 15 s}"))
        return None
    _unknown(node, SAMPLER_KEYS, problems)
    given: dict[str, Any] = {}
    given |= {key: _polynomial(node, key, problems) for key in ("numerator", "denominator") if key in node}
    times = {key: _number(node.get(key), problems) for key in ("period", "phase", "lands", "window", "rank")}
    if "period" not in node:
        problems.append(Problem(node.place, f"the period of {name} is missing", "write `period: 15 s`"))
    rank = times.pop("rank") or 0
    if rank.denominator != 1:
        problems.append(Problem(node.get("rank").place, "a rank is a whole number"))  # type: ignore[union-attr]
    given |= {key: time for key, time in times.items() if time is not None}
    return Sampler(name, **given, rank=int(rank))


def _polynomial(node: Table, key: str, problems: list[Problem]) -> tuple[Fraction, ...]:
    listed = node.get(key)
    if listed is None:
        problems.append(Problem(node.place, f"{key} is missing", "a list of numbers, the highest power of s first"))
        return (Fraction(1),)
    items = list(listed) if isinstance(listed, Items) else [listed]
    numbers = [_number(item, problems) for item in items]
    coefficients = tuple(number for number in numbers if number is not None) or (Fraction(0),)
    if key == "denominator" and len(coefficients) == len(numbers) and not any(coefficients):
        problems.append(Problem(listed.place, "a denominator is not zero", "write [1] for a gain without dynamics"))
    return coefficients


def _number(node: Node | None, problems: list[Problem]) -> Fraction | None:
    """Returns a bare number, a ratio of whole ones or a number with a unit, in SI."""
    if node is None:
        return None
    try:
        return _quantity(node.text) if isinstance(node, Scalar) else Fraction("no number")
    except (ValueError, ZeroDivisionError, OverflowError, units.UnitError):
        text = f"'{units.shorten(node.text)}'" if isinstance(node, Scalar) else document.type_of[type(node)]
        problems.append(Problem(node.place, f"{text} is not a number", "write for example 0.05, 1e-3 or 30 s"))
        return None


def _quantity(text: str) -> Fraction:
    number = Fraction(text) if RATIO.fullmatch(text) else Fraction(units.quantity(text)[0])
    float(number)  # raises OverflowError
    return number


def _coupling(node: Node, names: tuple[str, ...], problems: list[Problem]) -> Coupling | None:
    if not isinstance(node, Table):
        problems.append(Problem(node.place, "this is no coupling", "write {from: a, to: b, gain: -1}"))
        return None
    _unknown(node, COUPLING_KEYS, problems)
    ends = []
    for key in ("from", "to"):
        end = node.get(key)
        if not isinstance(end, Scalar):
            problems.append(Problem(node.place, f"{key} is missing", "name a block"))
            return None
        if end.text not in names:
            problems.append(Problem(end.place, f"'{end.text}' is no block", did_you_mean(end.text, names)))
            return None
        ends.append(end.text)
    gain = _number(node.get("gain"), problems)
    return Coupling(ends[0], ends[1], Fraction(1) if gain is None else gain)
