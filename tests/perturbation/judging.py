"""Judges the values of a design by what changes of them do to a command's output.

A value takes part in an output where
- it is named as not read; or
- a change of it has an effect: the output is another one, or for another word the command says what it needs; or
- an answer points at it, as one of the places that it stands on; or
- another value binds: in the design with one other value changed, a change of it has an effect.
Any other value is silent; of one of which the command takes no change nothing can be told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.perturbation.changes import changes, other_words
from tests.perturbation.outputs import COMMANDS, Asked, Output, output
from tests.perturbation.written_leaves import Change, WrittenLeaf, edited, leaves, overlap


class Part(StrEnum):
    """How a value takes part in an output."""

    EFFECT = "effect"
    NAMED = "named"
    POINTED = "pointed at"
    BOUND = "bound by another"
    SILENT = "silent"
    FIXED = "fixed"  # the command takes no change of it


@dataclass(frozen=True)
class Judged:
    """How each judged value takes part, and those that are named as not read although answers change with them."""

    parts: dict[WrittenLeaf, Part]
    needless: tuple[WrittenLeaf, ...] = ()

    def of(self, part: Part) -> list[WrittenLeaf]:
        """Returns the values that take part in this way."""
        return [leaf for leaf, own in self.parts.items() if own is part]


def judged(
    command: str, text: str, *, chosen: Sequence[WrittenLeaf] | None = None, doubt_named: bool = False
) -> Judged | None:
    """Judges values of a design (all that it states, or those chosen); None where the command refuses the design.

    With `doubt_named` the values that the output names as not read are changed as well.
    """
    with TemporaryDirectory() as folder:
        judge = Judge(COMMANDS[command], text, Path(folder))
        if judge.before is None:
            return None
        parts = {leaf: judge.part(leaf) for leaf in (chosen if chosen is not None else leaves(text))}
        named = (leaf for leaf, part in parts.items() if part is Part.NAMED and doubt_named)
        return Judged(parts, tuple(leaf for leaf in named if judge.changes_answers(leaf)))


@dataclass
class Judge:
    """Changes values of one design and compares the outputs of a command, which are kept."""

    asked: Sequence[Asked]
    text: str
    folder: Path
    outputs: dict[tuple[int, tuple[tuple[str, str | None], ...]], Output | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.others, self.supplied = leaves(self.text), leaves(self.text, supplied=True)
        before = self._output(len(self.asked) - 1)
        self.before = None if before is None or before.refused else before

    def part(self, leaf: WrittenLeaf) -> Part:
        """Returns how a value takes part."""
        assert self.before is not None
        if self.before.names(leaf):
            return Part.NAMED
        part = self.effect(leaf)
        if part is not Part.SILENT:
            return part
        if self.before.points_at(leaf):
            return Part.POINTED
        return Part.BOUND if self.bound(leaf) else Part.SILENT

    def effect(self, leaf: WrittenLeaf, *beside: Change) -> Part:
        """Returns whether a change of a value has an effect on the output, beside some change of another."""
        taken = False
        for step in range(len(self.asked)):
            before = self._output(step, *beside)
            if before is None or before.refused:
                continue
            for new in changes(leaf, self.others):
                after = self._output(step, *beside, (leaf, new))
                if after is None or (after.refused and not other_words(leaf.text, new)):
                    continue
                if after.cut is before.cut and after.shown != before.shown:
                    return Part.EFFECT
                taken = True
        return Part.SILENT if taken else Part.FIXED

    def changes_answers(self, leaf: WrittenLeaf) -> bool:
        """Decides whether another number or word for a value changes an answer, beside lines about what is not read."""
        assert self.before is not None
        last = len(self.asked) - 1
        outputs = (self._output(last, (leaf, new)) for new in changes(leaf, self.others) if new is not None)
        given = (after for after in outputs if after is not None and not after.refused)
        return any(after.answers != self.before.answers for after in given)

    def bound(self, leaf: WrittenLeaf) -> Change | None:
        """Returns a change of another value beside which a change of this one has an effect, if there is one."""
        for change in self._beside(leaf):
            if self._output(len(self.asked) - 1, change) is not None and self.effect(leaf, change) is Part.EFFECT:
                return change
        return None

    def _beside(self, leaf: WrittenLeaf) -> Iterator[Change]:
        """Yields changes of other values, the likely ones first, and first of those of the same entry.

        Beside a value of a part those of parts are changed, too.
        """
        known = self.others if leaf in self.others else self.supplied
        others = sorted(known, key=lambda other: other.path[:2] != leaf.path[:2])
        ways = [[(other, new) for new in changes(other, self.others)] for other in others if not overlap(leaf, other)]
        yield from (change for row in zip_longest(*ways) for change in row if change is not None)

    def _output(self, step: int, *changed: Change) -> Output | None:
        key = (step, tuple(sorted(((leaf.name, new) for leaf, new in changed), key=str)))
        if key not in self.outputs:
            try:
                self.outputs[key] = output(self.asked[step], edited(self.text, *changed), self.folder)
            except Exception as error:
                told = ", ".join(f"{leaf} changed to {new!r}" for leaf, new in changed)
                raise AssertionError(f"{told}: {type(error).__name__}: {error}") from error
        return self.outputs[key]
