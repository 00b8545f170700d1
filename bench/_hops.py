"""Counts the files that one number of a design passes through, from its line to the printed finding.

A file counts when an argument, a local variable or the result of one of its functions holds the number or its text
while `coherence check --no-cache` runs; a hop is a change from one such file to another.  What a value holds is looked
at three levels deep.  A parse is one text with the number that becomes a quantity: one says that nothing is read again.
Run `python -m bench._hops`.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent / "coherence"
PARSER = str(PACKAGE / "base" / "units.py")
DEPTH = 3  # of values inside values
WIDTH = 24  # of the members of one value that are looked at

PER_TRY = """coherence: 1
components: {front: {}, back: {takes: {answer: 1 s .. 2 s}}}
calls:
  - {from: users, to: front, deadline: 40 s, per_try: 20 s, tries: 1}
  - {from: front, to: back, deadline: 60 s, per_try: 17.3 s, tries: 3, retry_when: [timeout], on_timeout: cancel}
"""
SETPOINT = """coherence: 1
workload: {users: {rate: 100 req/s}}
components:
  web: {copies: 2 .. 20, utilisation: users.rate / (12 req/s * web.copies)}
loops:
  hpa:
    layer: orchestration
    objective: match load
    timescale: {period: 15 s, hold_down: 60 s}
    target: {signal: web.utilisation, setpoint: 67.3 %, tolerance: 10 %}
    actuation: {signal: web.copies, law: proportional, bounds: [2, 20]}
"""


@dataclass
class Walk:
    """The files that a number was seen in, in the order of its first visits, and how often it was seen and parsed."""

    number: Fraction
    text: str
    files: dict[str, None] = field(default_factory=dict)
    hops: int = 0
    parses: int = 0
    last: str = ""

    def visit(self, frame: FrameType, _event: str, _result: Any) -> Any:
        """Notes the frame where it begins, and again where it ends."""
        path = frame.f_code.co_filename
        if not path.startswith(str(PACKAGE)):
            return None
        if path == PARSER and frame.f_code.co_name == "quantity" and self.text in frame.f_locals["text"]:
            self.parses += 1
        self.note(path, frame.f_locals)
        return self.end

    def end(self, frame: FrameType, event: str, result: Any) -> Any:
        if event == "return":
            self.note(frame.f_code.co_filename, {**frame.f_locals, "<result>": result})
        return self.end

    def note(self, path: str, values: Mapping[str, Any]) -> None:
        if path == self.last or not any(self.holds(value, DEPTH) for value in values.values()):
            return
        self.files[Path(path).relative_to(PACKAGE).as_posix()] = None
        self.hops += 1
        self.last = path

    def holds(self, value: Any, depth: int) -> bool:
        """Returns whether the value is the number or its text, or has it among its members."""
        if isinstance(value, str):
            return len(value) < 200 and self.text in value
        if isinstance(value, Fraction):
            return value == self.number
        return depth > 0 and any(self.holds(inner, depth - 1) for inner in members(value))


def members(value: Any) -> Iterator[Any]:
    """Yields the first members of a container, or the fields of one of our own values, without running any code."""
    if isinstance(value, (list, tuple)):
        yield from value[:WIDTH]
    elif isinstance(value, dict):
        yield from list(dict.values(value))[:WIDTH]
    elif type(value).__module__.startswith("coherence.") and not isinstance(value, type):
        with contextlib.suppress(AttributeError):
            yield from list(object.__getattribute__(value, "__dict__").values())[:WIDTH]


def walk(design: str, number: Fraction, text: str) -> Walk:
    """Returns the walk of a number through a check of a design."""
    from coherence.cli._run import run

    seen = Walk(number, text)
    with TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = Path(folder) / "design.yaml"
        path.write_text(design, encoding="utf-8")
        sys.setprofile(None)
        sys.settrace(seen.visit)
        try:
            run(["check", "--no-cache", str(path)])
        finally:
            sys.settrace(None)
    return seen


def main() -> None:
    """Prints the walks of a per_try and of a setpoint."""
    for name, design, number, text in (
        ("per_try", PER_TRY, Fraction(173, 10), "17.3"),
        ("setpoint", SETPOINT, Fraction(673, 1000), "67.3"),
    ):
        seen = walk(design, number, text)
        print(f"{name}: {len(seen.files)} files, {seen.hops} hops, {seen.parses} parses")
        for path in seen.files:
            print(f"  {path}")


if __name__ == "__main__":
    main()
