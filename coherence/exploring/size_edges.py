"""Finds up to which size a design holds: two neighbouring values of one number, with the proofs and the conflict.

The range is halved between an end without a conflict and one with one.  The questions that are in conflict on the one
side have to be proved on the other: where the nearest value without a conflict leaves one of them open, the largest one
with all proofs is sought as well, and what lies between is undecided.  Each value is asked as a design of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from coherence.base import units
from coherence.base.bisection import halved, mean, whole_mean
from coherence.base.errors import InputError, UsageError
from coherence.checking.repair.rechecks import Key
from coherence.checking.weighing import ask_weighed
from coherence.exploring.box_answers import RegionAnswer, answer
from coherence.exploring.regions import is_whole
from coherence.exploring.swept_numbers import Axis, axes, edited
from coherence.findings.edited_designs import Rebuild
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule

FINE = 1_000  # parts of the range that stay apart where a key does not count


@dataclass(frozen=True)
class SizeEdge:
    """The last value with proofs and the first with a conflict, in the direction in which the size is exceeded.

    `whole`: whole values alone were asked; `holds`, `fails`: None where no value of the range is so; `questions`: that
    are in conflict at `fails`, else all that are proved at `holds`; `open_at`: the nearest value without a conflict,
    where its proofs are lacking.
    """

    axis: Axis
    whole: bool
    holds: Fraction | None
    fails: Fraction | None
    open_at: Fraction | None
    questions: tuple[Key, ...]
    answers: Mapping[Fraction, RegionAnswer]

    @property
    def conflicts(self) -> tuple[str, ...]:
        """Returns what is in conflict beyond the edge, in words."""
        if self.fails is None:
            return ()
        beyond = self.answers[self.fails]
        words = sorted(f"{code} of {', '.join(of)}: {words}" for (code, of), words in beyond.worded)
        return tuple(words) or (beyond.refused,)

    @property
    def is_open(self) -> bool:
        """Decides whether something is undecided between the two values, or where the design holds."""
        return self.open_at is not None or self.holds is None or bool(self.left_open)

    @property
    def left_open(self) -> tuple[Key, ...]:
        """Returns the questions that are undecided where the design holds."""
        return () if self.holds is None else tuple(sorted(self.answers[self.holds].undecided))


@dataclass(frozen=True)
class SizedDesign:
    """A design of which one number is varied, and every answer that was given.  `whole`: at whole values alone."""

    axis: Axis
    sources: Mapping[str, str]
    rebuild: Rebuild
    modules: tuple[QuestionModule, ...]
    time_limit: float
    whole: bool
    answers: dict[Fraction, RegionAnswer] = field(default_factory=dict, compare=False)

    def ask(self, size: Fraction) -> RegionAnswer:
        """Returns what the questions say at one size."""
        if size not in self.answers:
            self.answers[size] = self._answered(size)
        return self.answers[size]

    def _answered(self, size: Fraction) -> RegionAnswer:
        texts = edited(self.sources, [self.axis.edit(size)])
        try:
            return answer(ask_weighed(Subject(self.rebuild(texts), texts, self.time_limit), self.modules))
        except InputError as error:
            return RegionAnswer(refused=error.problems[0].message)

    def between(self, holds: Fraction, other: Fraction, keys: Iterable[Key] | None) -> tuple[Fraction, Fraction]:
        """Returns the two values between which conflicts begin, or the proofs of these questions end."""
        values, whole = self.axis.values, self.whole
        width = abs(values[-1] - values[0]) / FINE

        def inside(size: Fraction) -> bool:
            there = self.ask(size)
            return not there.conflict and (keys is None or not unproved(there, keys))

        def near(inner: Fraction, outer: Fraction) -> bool:
            return abs(inner - outer) <= (1 if whole else width)

        def middle(inner: Fraction, outer: Fraction) -> Fraction:
            return Fraction(whole_mean(inner, outer)) if whole else self._short(mean(inner, outer))

        return halved(inside, holds, other, near=near, middle=middle)

    def _short(self, size: Fraction) -> Fraction:
        """Returns a value near a size that has six digits in the unit of the key."""
        factor = units.unit(self.axis.unit)[0] if self.axis.unit else Fraction(1)
        return Fraction(f"{float(size / factor):.6g}") * factor


def counts(axis: Axis, parameter: str) -> bool:
    """Decides whether `KEY=A:B` is asked at whole values alone: between whole ends that are written without a point."""
    return is_whole(axis) and "." not in parameter.partition("=")[2]


def size_edge(
    parameter: str, sources: Mapping[str, str], rebuild: Rebuild, modules: Sequence[QuestionModule], *,
    time_limit: float = 20.0,
) -> SizeEdge:  # fmt: skip
    """Returns the edge of one `KEY=A:B` parameter.  Raises UsageError."""
    (axis,) = axes([parameter], sources)
    design = SizedDesign(axis, sources, rebuild, tuple(modules), time_limit, counts(axis, parameter))
    ask_weighed(Subject(rebuild(sources), sources, time_limit), design.modules)  # what the design as it is reads
    low, high = min(axis.values), max(axis.values)
    clear = [end for end in (low, high) if not design.ask(end).conflict]
    if len(clear) != 1:
        return _without_edge(design, clear, high)
    nearest, fails = design.between(clear[0], high if clear == [low] else low, None)
    beyond = design.ask(fails)
    questions = tuple(sorted(beyond.certain | beyond.possible))
    if not unproved(design.ask(nearest), questions):
        return SizeEdge(axis, design.whole, nearest, fails, None, questions, design.answers)
    if unproved(design.ask(clear[0]), questions):
        return SizeEdge(axis, design.whole, None, fails, nearest, questions, design.answers)
    holds, _ = design.between(clear[0], nearest, questions)
    return SizeEdge(axis, design.whole, holds, fails, nearest, questions, design.answers)


def _without_edge(design: SizedDesign, clear: Sequence[Fraction], high: Fraction) -> SizeEdge:
    """Returns that both ends are in conflict, or that neither is."""
    end = design.ask(high)
    if not clear:
        return SizeEdge(
            design.axis, design.whole, None, high, None, tuple(sorted(end.certain | end.possible)), design.answers
        )
    return SizeEdge(design.axis, design.whole, high, None, None, tuple(sorted(end.proved)), design.answers)


def unproved(there: RegionAnswer, questions: Iterable[Key]) -> tuple[Key, ...]:
    """Returns the questions that are not proved of the same policies or of a part of them."""
    return tuple(
        (code, of)
        for code, of in questions
        if not any(code == c and (set(of) <= set(names) or set(names) <= set(of)) for c, names in there.proved)
    )


def one_key(parameters: Sequence[str]) -> str:
    """Returns the only parameter.  Raises UsageError."""
    if len(parameters) != 1:
        raise UsageError(f"{len(parameters)} keys: the edge of a size has one")
    return parameters[0]
