"""Writes a network with its open loops for other tools: as JSON that is read again, as a script, as a .mat file.

What all three hold: blocks with their delays, samplers with their rates, couplings, the operating point, and of each
loop the matrices of L (opened at what it reads, or behind a block), or that delays leave it without any.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.interchange.open_loop import OpenLoop
from coherence.loops.multirate.sampled_system import Multirate, Number, exactly
from coherence.loops.networks.network import Network

LONGEST = 40  # digits of a ratio that is written as such
NO_MATRICES = "delays leave it without a state space: its response follows from blocks and couplings"


@dataclass(frozen=True)
class ExportedNetwork:
    """A network of `source`, its open `loops`, and, of a design, the operating point and what is beside the network."""

    source: str
    network: Network | Multirate
    loops: tuple[OpenLoop, ...]
    point: Mapping[str, float]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns a network file; what is not read again stands under `exported`."""
        loops = {loop.name: _loop(loop) for loop in self.loops}
        exported = {"from": self.source, "operating_point": dict(self.point), "notes": list(self.notes), "loops": loops}
        samplers = self.network.samplers if isinstance(self.network, Multirate) else ()
        blocks = {
            b.name: {
                "numerator": _row(b.numerator), "denominator": _row(b.denominator),
                **({"delay": _stated(b.delay)} if b.delay else {}), **({"rate": _stated(b.rate)} if b.rate else {}),
            }
            for b in self.network.blocks
        }  # fmt: skip
        rated = {
            s.name: {
                "numerator": _row(s.numerator), "denominator": _row(s.denominator), "rank": s.rank,
                **{key: _stated(getattr(s, key)) for key in ("period", "phase", "lands", "window")},
            }
            for s in samplers
        }  # fmt: skip
        couplings = [{"from": c.source, "to": c.target, "gain": _stated(c.gain)} for c in self.network.couplings]
        parts = {"blocks": blocks, **({"samplers": rated} if rated else {}), "couplings": couplings}
        return {"network": 1, **parts, "exported": exported}

    def to_json(self) -> str:
        """Returns the network file as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    def to_script(self) -> str:
        """Returns a script for python-control: L, S and T by loop, of delayed ones a function of the frequency."""
        from coherence.base.outside_text import visible

        document = self.to_dict()
        lines = [SCRIPT_HEAD.format(source=visible(self.source).replace("\\", "/").replace('"', "'"))]
        lines += [f"{name} = {_literal(document['exported'][key])}" for name, key in
                  (("OPERATING_POINT", "operating_point"), ("NOTES", "notes"))]  # fmt: skip
        lines += [f"BLOCKS = {_literal(document['blocks'])}", f"COUPLINGS = {_literal(document['couplings'])}"]
        lines += [f"SAMPLERS = {_literal(document['samplers'])}"] if "samplers" in document else []
        lines += [SCRIPT_DELAYED] if any(not loop.rational for loop in self.loops) else []
        lines += ["\nL, S, T = {}, {}, {}"]
        return "\n".join([*lines, *(_scripted(loop) for loop in self.loops)]) + "\n"

    def to_mat(self) -> bytes:
        """Returns a .mat file: struct `loops` with A, B, C, D and dt (0: continuous), `blocks`, `couplings`, and so on.

        Names that MATLAB does not take get `_`; `names` holds them as they are.
        """
        from scipy.io import savemat

        document = self.to_dict()
        blocks, samplers = (_fields(_numeric(document.get(key, {}))) for key in ("blocks", "samplers"))
        content = {
            "source": self.source, "notes": np.array(self.notes, dtype=object),
            "operating_point": _fields(self.point), "loops": _fields(document["exported"]["loops"]),
            "blocks": blocks, "samplers": samplers,
            "couplings": [{**row, "gain": float(Fraction(row["gain"]))} for row in document["couplings"]],
        }  # fmt: skip
        file = io.BytesIO()
        savemat(file, content, long_field_names=True)
        return file.getvalue()


def _loop(loop: OpenLoop) -> dict[str, Any]:
    if not loop.rational:
        return {"no_matrices": NO_MATRICES}
    system = loop.L
    matrices = {letter: np.asarray(getattr(system, letter)).tolist() for letter in "ABCD"}
    return {"dt": float(system.dt or 0.0), **matrices}


def _row(numbers: Sequence[Number]) -> list[float | str]:
    return [_stated(number) for number in numbers]


def _stated(number: Number) -> float | str:
    """Returns a number as it is read again: a float, or a ratio of whole numbers where no float is it."""
    near = float(number)
    if exactly(near) == number or not isinstance(number, Fraction):
        return near
    text = f"{number.numerator}/{number.denominator}"
    return text if len(text) <= LONGEST else near


def _numeric(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Returns the parts with ratios as floats."""

    def number(value: Any) -> Any:
        return [float(Fraction(x)) for x in value] if isinstance(value, list) else float(Fraction(value))

    return {name: {key: number(value) for key, value in part.items()} for name, part in parts.items()}


def _fields(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a struct, with names that MATLAB takes; those as they are in `names`.  Raises UsageError: two alike."""
    fields = {name: re.sub(r"\W", "_", name, flags=re.ASCII) for name in parts}
    fields = {name: field if field[:1].isalpha() else f"x{field}" for name, field in fields.items()}
    if len(set(fields.values())) < len(fields) or max(map(len, fields.values()), default=0) > 63:
        raise UsageError(f"MATLAB cannot tell the names apart, or they are too long: {', '.join(fields)}; use JSON")
    struct: dict[str, Any] = {fields[name]: part for name, part in parts.items()}
    return {**struct, "names": np.array(list(parts), dtype=object)}


def _literal(value: Any) -> str:
    """Returns a value as Python reads it, over several lines where it is long."""
    import pprint

    return pprint.pformat(value, width=110, sort_dicts=False)


def _scripted(loop: OpenLoop) -> str:
    name = repr(loop.name)
    if not loop.rational:
        return "\n".join(f"{letter}[{name}] = lambda omega: delayed({name}, omega).{letter}" for letter in "LST")
    return "\n".join(_assigned(letter, name, system) for letter, system in zip("LST", _systems(loop), strict=True))


def _systems(loop: OpenLoop) -> Iterator[Any]:
    systems = loop.systems
    yield from (systems.L, systems.S, systems.T)


def _assigned(letter: str, name: str, system: Any) -> str:
    matrices = ", ".join(repr(np.asarray(getattr(system, each)).tolist()) for each in "ABCD")
    return f"{letter}[{name}] = control.ss({matrices}, {float(system.dt or 0.0)!r})"


SCRIPT_HEAD = '''"""Loops of {source} for python-control, written by `coherence export`.

L, S and T by loop: state spaces (discrete ones: one sample is one lap of all rates); of a loop with delays functions of
the frequency in rad/s that give its exact response.
"""

import control
'''
SCRIPT_DELAYED = '''

class delayed:
    """L, S and T behind one block, at frequencies in rad/s, delays exact."""

    def __init__(self, name, omega):
        import numpy as np

        names = list(BLOCKS)
        row, values = names.index(name), []
        for w in omega:
            g = [np.polyval(b["numerator"], 1j * w) / np.polyval(b["denominator"], 1j * w)
                 * np.exp(-1j * w * b.get("delay", 0.0)) for b in BLOCKS.values()]
            k = np.zeros((len(names), len(names)))
            for c in COUPLINGS:
                k[names.index(c["to"]), names.index(c["from"])] += c["gain"]
            values.append(np.linalg.inv(np.eye(len(names)) - np.array(g)[:, None] * k)[row, row])
        s = np.array(values)
        self.L, self.S, self.T = (control.frd(x, omega) for x in (1 / s - 1, s, 1 - s))
'''
