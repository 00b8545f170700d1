"""Defines what a question is asked about (Subject), and how it builds its findings (Question)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.errors import InternalError
from coherence.base.places import Place
from coherence.base.queries import QueryTable
from coherence.findings.finding import Evidence, Finding, Grade, Repair, Severity, Step, Verdict
from coherence.language.design import Design

if TYPE_CHECKING:
    from coherence.model.model import Model


@dataclass(frozen=True)
class Subject:
    """One design; its model is elaborated once, when a question first needs it."""

    design: Design
    sources: Mapping[str, str] = field(default_factory=dict)  # file -> text, of every file the design came from
    time_limit: float = 20.0  # seconds that one question may take before it answers `undecided`

    @property
    def model(self) -> Model:
        """Returns the model of the design, elaborated once."""
        from coherence.model.elaborate import model_of

        return model_of(self.design)

    @property
    def queries(self) -> QueryTable:
        """Returns the table of what was computed from the design."""
        return self.design.queries


_DETAILS: ContextVar[bool] = ContextVar("details", default=True)


def details_are_asked() -> bool:
    """Returns whether more matters of a conflict than that it is there: its certainty, repairs, other values."""
    return _DETAILS.get()


def details_unasked() -> AbstractContextManager[None]:
    """Answers conflicts over runs as possible and all without repairs: of an edit only whether they stay counts."""
    return _without(_DETAILS)


_REPAIRS: ContextVar[bool] = ContextVar("repairs", default=True)


def repairs_are_asked() -> bool:
    """Returns whether anybody will see the repairs of a conflict."""
    return _REPAIRS.get()


def repairs_unasked() -> AbstractContextManager[None]:
    """Searches no repairs of conflicts: what else is answered stays as it is."""
    return _without(_REPAIRS)


@contextmanager
def _without(switch: ContextVar[bool]) -> Iterator[None]:
    token = switch.set(False)
    try:
        yield
    finally:
        switch.reset(token)


@dataclass(frozen=True)
class Question:
    """The identity of a question: the code, slug and domain that its module claims.

    `slow`: it executes loops or searches their states, so that one answer may take seconds.  `fires`: what it answers
    where something is wrong (None: only a fault of an engine makes it answer, so that no case shows one); `proves`: it
    may answer that nothing is.  `regardless`: kinds of influence (`influences.py`) that cannot change what its proofs
    say.
    """

    code: str
    slug: str
    domain: str = ""
    slow: bool = False
    fires: Verdict | None = Verdict.CONFLICT
    proves: bool = True
    regardless: frozenset[str] = frozenset()

    def conflict(
        self,
        message: str,
        places: Iterable[Place],
        of: Iterable[str],
        evidence: Evidence,
        *,
        certain: bool = True,
        assumptions: Iterable[str] = (),
        repairs: Iterable[Repair] = (),
    ) -> Finding:
        """Returns a finding of a broken promise: an error where certain, whatever is left open, else a warning."""
        severity = Severity.ERROR if certain else Severity.WARNING
        return self._finding(
            Verdict.CONFLICT,
            severity,
            message,
            places,
            of,
            evidence,
            "certain" if certain else "possible",
            assumptions,
            repairs if details_are_asked() and repairs_are_asked() else (),
        )

    def proved(
        self,
        message: str,
        places: Iterable[Place],
        of: Iterable[str],
        evidence: Evidence,
        *,
        assumptions: Iterable[str] = (),
        margin: bool = True,
    ) -> Finding:
        """Returns a proved finding.  `margin=False`: the promise touches its limit (a warning, still proved)."""
        if not self.proves:
            raise InternalError(f"{self.code} proves nothing, and answers that it did")
        severity = Severity.INFO if margin else Severity.WARNING
        return self._finding(Verdict.PROVED, severity, message, places, of, evidence, "", assumptions, ())

    def absent(
        self,
        message: str,
        places: Iterable[Place],
        of: Iterable[str],
        evidence: Evidence,
        *,
        assumptions: Iterable[str] = (),
    ) -> Finding:
        """Returns a proof that what is asked for is not there: an answer to who re-checks a repair, and to nobody
        else."""
        return self._finding(Verdict.PROVED, Severity.INFO, message, places, of, evidence, "", assumptions, ())

    def undecided(
        self,
        needs: str,
        places: Iterable[Place],
        of: Iterable[str],
        *,
        bound: str = "",
        severity: Severity = Severity.INFO,
        assumptions: Iterable[str] = (),
        lacks_number: bool = False,
    ) -> Finding:
        """Returns an undecided finding; `needs` completes "undecided: ..." ("needs task time of worker").

        `lacks_number`: nobody wrote the promise, and what it needs is a number: it is counted by kind, not reported.
        """
        evidence = Evidence(Grade.BOUNDED, "not decided", bound=bound)
        finding = self._finding(Verdict.UNDECIDED, severity, needs, places, of, evidence, "", assumptions, ())
        return replace(finding, lacks_number=lacks_number) if lacks_number else finding

    def vacuous(self, message: str, places: Iterable[Place], of: Iterable[str], evidence: Evidence) -> Finding:
        """Returns a vacuous finding: the assumptions contradict each other, or a trigger cannot be reached."""
        return self._finding(Verdict.VACUOUS, Severity.WARNING, message, places, of, evidence, "", (), ())

    def note(self, message: str, places: Iterable[Place], of: Iterable[str], evidence: Evidence) -> Finding:
        """Returns a fact that no promise is about (an amplification without a limit, an absent objective)."""
        return self._finding(Verdict.NOTE, Severity.INFO, message, places, of, evidence, "", (), ())

    def _finding(  # noqa: PLR0913, PLR0917  (one argument for each field of a finding)
        self, verdict: Verdict, severity: Severity, message: str, places: Iterable[Place], of: Iterable[str],
        evidence: Evidence, certainty: str, assumptions: Iterable[str], repairs: Iterable[Repair],
    ) -> Finding:  # fmt: skip
        return Finding(
            self.code, self.slug, verdict, severity, message, tuple(places), tuple(dict.fromkeys(of)),
            evidence, certainty, tuple(assumptions), tuple(repairs),
        )  # fmt: skip


def arithmetic(
    numbers: Mapping[str, tuple[Fraction | float | int, str]],
    *,
    witness: Iterable[Step] = (),
    certificate: str | None = None,
    replayed: bool = False,
) -> Evidence:
    """Returns evidence by exact rational arithmetic, with the figures that decided."""
    return Evidence(Grade.PROVED, "exact arithmetic", tuple(witness), certificate, dict(numbers), replayed=replayed)


@dataclass(frozen=True)
class Certificate:
    """An SMT-LIB 2 script over linear real arithmetic: declared constants, facts, and the negated claim."""

    constants: Mapping[str, str] = field(default_factory=dict)  # name -> sort (Real | Int)
    facts: tuple[str, ...] = ()  # SMT-LIB terms
    claim: str = "true"  # SMT-LIB term that must follow

    def script(self) -> str:
        """Returns the SMT-LIB 2 script, whose answer must be `unsat`."""
        logic = "QF_LIRA" if "Int" in self.constants.values() else "QF_LRA"
        lines = [f"(set-logic {logic})", *(f"(declare-const {n} {s})" for n, s in self.constants.items())]
        lines += [f"(assert {fact})" for fact in self.facts]
        return "\n".join([*lines, f"(assert (not {self.claim}))", "(check-sat)"]) + "\n"


def rational(value: Fraction | int) -> str:
    """Returns a rational number as an SMT-LIB term of sort Real."""
    exact = Fraction(value)
    size = (
        f"{abs(exact.numerator)}.0" if exact.denominator == 1 else f"(/ {abs(exact.numerator)}.0 {exact.denominator}.0)"
    )
    return f"(- {size})" if exact < 0 else size
