"""Unbounded proofs: two and three loops beside z3's Spacer, ten loops in pairs, certificates that cvc5 re-checks.

Spacer gets the same transition systems as Horn clauses, in the same run; it is stopped after SPACER_SECONDS.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from bench.harness import Row, on_all_cores
from coherence.base.errors import CoherenceError
from coherence.base.solver import recheck
from coherence.checking.design_check import analyse
from coherence.checking.reports import report
from coherence.checking.workspace import open_workspace
from coherence.findings.finding import Finding, Verdict
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.bounded_response import BoundedResponse, conditions_of
from coherence.simulate.execute.schedules import schedules
from coherence.verify.invariants.proof import InvariantProof
from coherence.verify.invariants.prover import prove
from coherence.verify.promises.decisions import Proved, condition_of, decide
from coherence.verify.promises.responses import Answered, Late, answered
from coherence.verify.systems.piecewise_affine import LinearForm, TransitionSystem
from coherence.verify.systems.transitions import Encoder

SPACER_SECONDS, RECHECK_MS = 10, 5_000
FILE = "case.yaml"
PER_PAGE = 3  # designs of each page of cases whose certificates are re-checked
ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```yaml[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
TWO = """
coherence: 1
components: {power: {state: "p' = 0.8 * p + 0.2 * (10 + batch.load)", step: 1 s, from: 0 .. 60}}
loops:
  throttle: {rank: 1, timescale: {period: 1 s, phase: 0 s}, trigger: {enter: p >= 80, leave: p <= 60}, actuation: {}}
  backfill:
    rank: 2
    timescale: {period: 1 s, phase: 0 s}
    rules: [{when: throttle, by: -20}, {when: p < 85, by: 5}]
    actuation: {signal: batch.load, bounds: [0, 200], from: 0}
promises: {p: always p <= 95}
"""
THREE = """
coherence: 1
components:
  power: {state: "p' = 0.8 * p + 0.2 * (10 + batch.load)", step: 1 s, from: 0 .. 60}
  hall: {state: "t' = 0.9 * t + 0.08 * p + (0 if fan else 2)", step: 1 s, from: 20 .. 40}
loops:
  throttle: {rank: 1, timescale: {period: 1 s, phase: 0 s}, trigger: {enter: p >= 80, leave: p <= 60}, actuation: {}}
  fan: {rank: 2, timescale: {period: 1 s, phase: 0 s}, trigger: {enter: t >= 60, leave: t <= 50}, actuation: {}}
  backfill:
    rank: 3
    timescale: {period: 1 s, phase: 0 s}
    rules: [{when: throttle, by: -20}, {when: p < 85, by: 5}]
    actuation: {signal: batch.load, bounds: [0, 200], from: 0}
promises: {p: always t <= 88}
"""


def rows() -> Iterator[Row]:
    """All rows of this part."""
    for what, text in (("2 loops", TWO), ("3 loops", THREE)):
        yield proof_row(what, text)
    yield response_row()
    yield pairs_row()
    yield edge_row()
    yield from certificate_rows()


def system_of(text: str) -> TransitionSystem:
    """The transition system of the promise p, at the stated phases."""
    model = elaborate(read_text(text))
    promise = model.promises["p"]
    schedule = next(iter(schedules(model)))
    return Encoder(model, schedule, condition_of(model, promise), wanted=promise.kind == "always").system()


def proof_row(what: str, text: str) -> Row:
    """Processor seconds from the text to a checked proof; the peer is Spacer on the same system."""
    prove(system_of(TWO))  # imports
    start = time.process_time()
    system = system_of(text)
    proved = isinstance(prove(system), InvariantProof)
    spent = time.process_time() - start
    return Row(f"hybrid proof, {what}, unbounded", spent if proved else float("nan"), "<= 2", "s", spacer(system))


def spacer(system: TransitionSystem) -> str:
    """What z3's Spacer says of the system within SPACER_SECONDS."""
    import z3

    engine = z3.Fixedpoint()
    engine.set(engine="spacer", timeout=1000 * SPACER_SECONDS)
    sorts = [z3.RealSort()] * len(system.variables)
    inside = {mode: z3.Function(f"m{k}", *sorts, z3.BoolSort()) for k, mode in enumerate(system.modes)}
    failed = z3.Bool("failed")
    failed_rule = failed.decl()
    for relation in (*inside.values(), failed_rule):
        engine.register_relation(relation)
    state = [z3.Real(f"x{k}") for k in range(len(system.variables))]
    choice = [z3.Real(f"u{k}") for k in range(len(system.choices))]
    engine.declare_var(*state, *choice)
    for mode, rows_ in system.initial:
        engine.rule(inside[mode](*state), [_row(z3, r.linear, r.relation, state) for r in rows_])
    for edge in system.edges:
        body = [inside[edge.source](*state), *(_row(z3, r.linear, r.relation, [*state, *choice]) for r in edge.guard)]
        engine.rule(inside[edge.target](*(_term(z3, u, [*state, *choice]) for u in edge.update)), body)
    for mode, rows_ in system.bad:
        engine.rule(failed_rule(), [inside[mode](*state), *(_row(z3, r.linear, r.relation, state) for r in rows_)])
    start = time.perf_counter()
    try:
        said = str(engine.query(failed))
    except z3.Z3Exception:
        said = "no answer"
    return f"Spacer: {said} after {time.perf_counter() - start:.1f} s"


def _term(z3: Any, linear: LinearForm, names: list[Any]) -> Any:
    parts = [_number(z3, c) * x for c, x in zip(linear.coefficients, names, strict=True) if c]
    return z3.Sum(*parts, _number(z3, linear.constant)) if parts else _number(z3, linear.constant)


def _number(z3: Any, value: Fraction) -> Any:
    return z3.Q(value.numerator, value.denominator)


def _row(z3: Any, linear: LinearForm, relation: str, names: list[Any]) -> Any:
    term = _term(z3, linear, names)
    return term == 0 if relation == "==" else term < 0 if relation == "<" else term <= 0


def chain(count: int, *, limit: int = 100) -> str:
    """Pairs of loops in a chain, each disturbed by the pair before it; p: the last never rises above the limit."""
    components, loops = [], []
    for i in range(count):
        fed = f" + 0.02 * p{i - 1}.x" if i else ""
        components.append(f'  p{i}: {{state: "x\' = 0.8 * x + 0.2 * b{i}.load{fed}", step: 1 s, from: 0 .. 20}}')
        loops.append(
            f"  hot{i}: {{rank: 1, timescale: {{period: 1 s, phase: 0 s}}, trigger: {{enter: p{i}.x >= 80, "
            f"leave: p{i}.x <= 60}}, actuation: {{}}}}\n"
            f"  fill{i}:\n    rank: 2\n    timescale: {{period: 1 s, phase: 0 s}}\n"
            f'    rules: [{{when: hot{i}, by: -20}}, {{when: "p{i}.x < 50", by: 5}}]\n'
            f"    actuation: {{signal: b{i}.load, bounds: [0, 200], from: 0}}"
        )
    head = "coherence: 1\ncomponents:\n" + "\n".join(components) + "\nloops:\n" + "\n".join(loops)
    return f"{head}\npromises: {{p: always p{count - 1}.x <= {limit}}}\n"


def seconds_of(text: str) -> float:
    """Processor seconds to a proof of the promise p; not a number without one."""
    model = elaborate(read_text(text))
    start = time.process_time()
    found = decide(model, model.promises["p"], time_limit=60)
    return time.process_time() - start if isinstance(found, Proved) else float("nan")


def response_row() -> Row:
    """Relief exactly at the end of the promised time: proved with a counted wait; a second less is refuted."""
    said = "r: after throttle then batch.load <= 40 within"
    models = [elaborate(read_text(TWO.replace("p: always p <= 95", f"{said} {t} s"))) for t in (2, 1)]
    start = time.process_time()
    found = [_answer(model) for model in models]
    spent = time.process_time() - start
    right = isinstance(found[0], Proved) and isinstance(found[1], Late)
    return Row("after a then b within t: proved, refuted", spent if right else float("nan"), "<= 2", "s", "")


def _answer(model: Model) -> Answered:
    promise = model.promises["r"]
    response = conditions_of(model, promise)
    assert isinstance(response, BoundedResponse)
    return answered(model, promise, response, time_limit=20)


def pairs_row() -> Row:
    """10 loops in 5 pairs against a pair: contracts between parts make it a sum, not a product."""
    one, five = seconds_of(chain(1)), seconds_of(chain(5))
    return Row("10 loops in 5 pairs: times a pair", five / one, "<= 15", "", f"{five:.2f} s against {one:.2f} s")


def edge_row() -> Row:
    """Thresholds at which power approaches the throttle and never reaches it: proved, with no margin said."""
    levels = ("56", "58", "60")
    texts = [TWO.replace("p < 85", f"p < {h}").replace("always p <= 95", "never throttle") for h in levels]
    models = [elaborate(read_text(text)) for text in texts]
    found = [decide(model, model.promises["p"], time_limit=20) for model in models]
    right = sum(isinstance(answer, Proved) and answer.touching for answer in found)
    return Row("safe with no margin: proved and warned", right, f"== {len(levels)}", "designs", "real template: 0")


def certificate_rows() -> Iterator[Row]:
    """The share of proved verdicts whose certificate cvc5 refutes, over specs, shared designs and Markdown cases.

    A certificate that cvc5 does not finish within RECHECK_MS counts as not confirmed.
    """
    proved, certified, confirmed = map(sum, zip(*on_all_cores(_confirmed, list(_designs())), strict=True))
    told = f"{confirmed} of {proved} proved verdicts; {certified} have a certificate"
    yield Row("proved verdicts that cvc5 re-checks", 100 * confirmed / max(proved, 1), ">= 90", "%", told)
    yield Row("certificates that cvc5 does not confirm", certified - confirmed, "== 0", "", "")


def _confirmed(source: Path | str) -> tuple[int, int, int]:
    """Proofs about a design, those with a certificate, and those whose certificate cvc5 confirms."""
    proofs = [finding for finding in _findings(source) if finding.verdict is Verdict.PROVED]
    scripts = [finding.evidence.certificate for finding in proofs if finding.evidence.certificate is not None]
    return len(proofs), len(scripts), sum(recheck(script, timeout_ms=RECHECK_MS).unsat for script in scripts)


def _findings(source: Path | str) -> Sequence[Finding]:
    """The findings about a design, without repairs, which hold no proofs; none where it cannot be read alone."""
    if isinstance(source, Path):
        return report(open_workspace([source]), verify_repairs=False).findings

    def rebuild(sources: Mapping[str, str]) -> Design:
        return read_text(sources[FILE], FILE)

    try:
        return analyse(read_text(source, FILE), {FILE: source}, rebuild, verify_repairs=False).findings
    except CoherenceError:
        return ()


def _designs() -> Iterator[Path | str]:
    """Specs, shared designs, and the first ones of each page of cases."""
    yield from sorted([*ROOT.glob("specs/*/design.yaml"), *(ROOT / "tests/data/designs").glob("*.yaml")])
    for page in sorted(ROOT.glob("tests/**/*.md")):
        yield from FENCE.findall(page.read_text(encoding="utf-8"))[:PER_PAGE]
