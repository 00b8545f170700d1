"""Asks SMT solvers about SMT-LIB text; the only module that imports z3 (and cvc5, to check again).

A script asks `(check-sat)` once; lines that say `(reset)` join several scripts, which are refuted
when each of them is.

What is asked is always a text, so that what is printed as a certificate is what was decided.
Answers are reproducible: fixed seeds, a fresh context per call, and one of its own for each model.  So a script that
was decided is not solved again by this process: repairs and blame ask mostly what was asked before.  The end of its
time, a malformed script or a failing solver is `unknown` with its reason, never an exception and never `unsat`.

The time that z3 has is a count of its own steps, so that a busy or slow machine changes no answer: `timeout_ms` are
milliseconds of a machine that takes so many steps in each.  The clock on the wall ends only what takes GUARD times as
long, and records it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from coherence.base.clock import record_cut
from coherence.base.errors import InternalError, MissingExtraError

SEED = 0
RESET = "(reset)\n"
ENDED = ("timeout", "canceled")  # z3's words for the end of its time, and of its steps
STEPS, STEPS_OF_PRODUCTS = 1_000, 150  # of z3 in a millisecond: with sums, and with products of unknowns
MOST_STEPS, GUARD = 2**32 - 1, 20
KEPT, LONGEST = 2_000, 10_000  # decided scripts that are known at once, and characters of one: at most 20 MB
_QUESTION = "(check-sat)"
_COMMENT_OR_SYMBOL = re.compile(r"\|[^|]*\||;[^\n]*")
_PRODUCTS = re.compile(r"\(set-logic \w*N[IR]+A\)")
_BETWEEN = re.compile(r"^\(reset\)\n", re.MULTILINE)


class Outcome(StrEnum):
    """What a solver can say about a script."""

    UNSAT = "unsat"
    SAT = "sat"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class SolverAnswer:
    """An outcome; why it is unknown; and, when satisfiable, one `name = value` a line, sorted.

    `malformed`: it is unknown because the script is none that a solver reads.
    """

    outcome: Outcome
    reason: str = ""
    model: str = ""
    malformed: bool = False

    @property
    def unsat(self) -> bool:
        """Returns whether the script was refuted.  `unknown` counts as not refuted."""
        return self.outcome is Outcome.UNSAT


_DECIDED: dict[str, SolverAnswer] = {}  # what z3 said of a script


def unsat(script: str, *, timeout_ms: int) -> SolverAnswer:
    """Returns whether z3 finds an SMT-LIB 2 script unsatisfiable.  `timeout_ms` holds for each part of it."""
    return _first_failure(unsat_each(_parts(script), timeout_ms=timeout_ms))


def confirmed(script: str, *, timeout_ms: int) -> bool:
    """Returns whether z3 refutes a certificate in time.  Raises InternalError for one that is malformed."""
    answer = unsat(script, timeout_ms=timeout_ms)
    if answer.malformed:
        raise InternalError(f"its certificate is malformed: {answer.reason}")
    return answer.unsat


def unsat_each(scripts: Iterable[str], *, timeout_ms: int) -> Iterator[SolverAnswer]:
    """Yields one answer per script (of one part), lazily: the caller may stop at the first that is not unsat.

    `timeout_ms` holds for each script.  The scripts share a context but no assertions.
    """
    context = None
    for script in scripts:
        answer = _DECIDED.get(script) or _ill_posed(script)
        if answer is None:
            import z3

            used, context = context is not None, context or z3.Context()
            answer = _ask_z3(z3, context, script, timeout_ms)
            if used and answer.outcome is Outcome.SAT:  # which model it is depends on what the context has seen
                answer = _ask_z3(z3, z3.Context(), script, timeout_ms)
            _keep(script, answer)
        yield answer


def _keep(script: str, answer: SolverAnswer) -> None:
    """Keeps an answer that depends on the script alone: any but `unknown`."""
    if answer.outcome is Outcome.UNKNOWN or len(script) > LONGEST:
        return
    if len(_DECIDED) >= KEPT:
        _DECIDED.clear()
    _DECIDED[script] = answer


def joined(scripts: Iterable[str]) -> str:
    """Returns several scripts as one, which is refuted when each of them is."""
    return RESET.join(scripts)


def _parts(script: str) -> list[str]:
    return _BETWEEN.split(script)


def _first_failure(answers: Iterable[SolverAnswer]) -> SolverAnswer:
    return next((answer for answer in answers if not answer.unsat), SolverAnswer(Outcome.UNSAT))


def _ill_posed(script: str) -> SolverAnswer | None:
    """Refuses scripts whose answer a solver would give for another question than the one written."""
    commands = _COMMENT_OR_SYMBOL.sub("", script)
    questions = commands.count(_QUESTION)
    if questions != 1:
        return _malformed(f"a script must ask {_QUESTION} once, this one asks {questions} times")
    if "(assert" in commands.partition(_QUESTION)[2]:
        return _malformed(f"a script must not assert anything after {_QUESTION}")
    if "(push" in commands or "(pop" in commands or "(reset" in commands:
        return _malformed("a script must not use push, pop or reset")
    return None


def _malformed(reason: str) -> SolverAnswer:
    return SolverAnswer(Outcome.UNKNOWN, reason, malformed=True)


def _ask_z3(z3: Any, context: Any, script: str, timeout_ms: int) -> SolverAnswer:
    try:
        question = z3.parse_smt2_string(script, ctx=context)
    except z3.Z3Exception as error:
        return _malformed(f"z3: {_text(error)}")
    try:
        solver = z3.SimpleSolver(ctx=context)
        steps, guard = _steps(script, timeout_ms), max(1, timeout_ms) * GUARD
        solver.set(rlimit=steps, timeout=guard, random_seed=SEED)
        solver.add(question)
        end = time.monotonic() + guard / 1000
        outcome = Outcome(str(solver.check()))
        reason = solver.reason_unknown() if outcome is Outcome.UNKNOWN else ""
        if reason in ENDED:
            reason = f"more than {steps} steps"
            if time.monotonic() >= end:
                reason = "timeout"
                record_cut()
        model = _model(solver.model()) if outcome is Outcome.SAT else ""
        return SolverAnswer(outcome, reason, model)
    except z3.Z3Exception as error:
        return SolverAnswer(Outcome.UNKNOWN, f"z3: {_text(error)}")


def _steps(script: str, milliseconds: int) -> int:
    """Returns how many steps z3 may take of a script, at least one."""
    of_one = STEPS_OF_PRODUCTS if _PRODUCTS.search(script) else STEPS
    return min(max(1, milliseconds) * of_one, MOST_STEPS)


def _text(error: Exception) -> str:
    value = error.args[0] if error.args else error
    return (value.decode(errors="replace") if isinstance(value, bytes) else str(value)).strip()


def _model(model: Any) -> str:
    """Returns the values of the declared constants; z3 lists defined functions among them, they are left out."""
    constants = [name for name in model.decls() if name.arity() == 0 and model[name].num_args() == 0]
    return "\n".join(sorted(f"{name} = {model[name]}" for name in constants))


def version() -> str:
    """Returns the solver and its version, for reports: `z3 4.13.0`."""
    import z3

    return f"z3 {z3.get_version_string()}"


def recheck(script: str, *, timeout_ms: int = 60_000) -> SolverAnswer:
    """Returns the same question to cvc5, a solver with no code in common with z3.

    Raises MissingExtraError when the Python package cvc5 is not installed.
    """
    try:
        import cvc5
    except ImportError as error:
        raise MissingExtraError("checking a certificate again with cvc5", "certify") from error
    return _first_failure(_ill_posed(part) or _ask_cvc5(cvc5, part, timeout_ms) for part in _parts(script))


def _ask_cvc5(cvc5: Any, script: str, timeout_ms: int) -> SolverAnswer:
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(max(1, timeout_ms)))
    solver.setOption("seed", str(SEED))
    try:
        output = _run_cvc5(cvc5, solver, script)
    except RuntimeError as error:
        return SolverAnswer(Outcome.UNKNOWN, f"cvc5: {str(error).strip()}")
    known = [line for line in output if line in set(Outcome)]
    if len(known) != 1:
        return SolverAnswer(Outcome.UNKNOWN, f"cvc5 said {' '.join(output) or 'nothing'}")
    return SolverAnswer(Outcome(known[0]), "cvc5 gave up or ran out of time" if known[0] == Outcome.UNKNOWN else "")


def _run_cvc5(cvc5: Any, solver: Any, script: str) -> list[str]:
    symbols = cvc5.SymbolManager(solver.getTermManager())
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "script")
    output: list[str] = []
    while not (command := parser.nextCommand()).isNull():
        output.extend(str(command.invoke(solver, symbols)).split("\n"))
    return [line.strip() for line in output if line.strip()]
