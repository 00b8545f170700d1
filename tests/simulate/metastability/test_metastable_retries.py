"""COH224 against its referee: every verdict about a design with a burst is what requests then do; and its evidence."""

from __future__ import annotations

import random
import re
import subprocess
import sys

import pytest

from coherence.base import solver
from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Grade, Verdict
from coherence.language.reading import read_text

HALF_LOAD = """
coherence: 1
workload: {clients: {rate: 50 req/s, service: {mean: 40 ms, cv: 1}, burst: {rate: 150 req/s, lasts: 3 s}}}
components: {workers: {copies: 4}}
calls:
  - {from: clients, to: workers, per_try: 250 ms, tries: 3, on_timeout: abandon}
"""
AT_80 = HALF_LOAD.replace("rate: 50 req/s", "rate: 80 req/s").replace(", burst: {rate: 150 req/s, lasts: 3 s}", "")
CAPS = (
    "",
    "{counts: clients.retries in flight, at_most: 3, when_full: reject}",
    "{counts: clients.retries in flight, at_most: 20 % of clients in flight, but_at_least: 3, when_full: reject}",
    "{counts: clients.retries in flight, at_most: 40, when_full: reject}",
    "{counts: workers in flight, at_most: 15, when_full: reject}",
)
NEAR_THE_EDGE = (10, 12, 18, 36)
LEFT_OPEN = (6, 15, 27)  # a cap that carries about the capacity, or a cap and pauses


def asked(text: str) -> Finding:
    """The one answer of COH224."""
    design = read_text(text, "design.yaml")
    sources = {"design.yaml": text}
    found = analyse(design, sources, lambda s: read_text(s["design.yaml"], "design.yaml"), select=("COH224",)).findings
    (finding,) = found
    return finding


def drawn(seed: int) -> str:
    """A design with a long burst: 30 to 70 % load, 1 to 4 tries, with and without a cap, cancelled or not."""
    made = random.Random(seed)  # noqa: S311  (designs, not secrets)
    limit = made.choice(CAPS)
    copies, service = made.choice((1, 2, 4, 8)), made.choice((20, 40, 100))
    rate = round(made.uniform(0.3, 0.7) * copies * 1000 / service)
    patience = service * made.choice((6, 10, 20))
    return (
        "coherence: 1\n"
        f"workload: {{clients: {{rate: {rate} req/s, service: {{mean: {service} ms, cv: 1}}, "
        f"burst: {{rate: {rate * 6} req/s, lasts: {patience * 4} ms}}}}}}\n"
        f"components: {{workers: {{copies: {copies}}}}}\n"
        f"calls:\n  - {{from: clients, to: workers, per_try: {patience} ms, tries: {made.choice((2, 3, 4))}, "
        f"on_timeout: {made.choice(('abandon', 'abandon', 'abandon', 'cancel'))}, retry_when: [timeout], "
        f"pause: {patience * made.choice((0, 0, 0.5, 4)):g} ms}}\n" + (f"limits: {{cap: {limit}}}\n" if limit else "")
    )


@pytest.mark.parametrize("seed", [seed for seed in range(40) if seed not in NEAR_THE_EDGE])
def test_requests_do_what_the_verdict_says(seed: int) -> None:
    """Answered in time long after the burst: nearly all where it is proved, nearly none where it is a conflict.

    In designs within a tenth of the edge noise decides; they are left out.
    """
    from coherence.simulate.processes import processes
    from coherence.simulate.requests.engine import simulate

    text = drawn(seed)
    finding = asked(text)
    numbers = {name: float(figure) for name, (figure, _) in finding.evidence.numbers.items()}
    assert abs(numbers.get("load when all time out", 1e9) / numbers.get("capacity", 1.0) - 1) >= 0.1
    found = simulate(processes(read_text(text, "design.yaml"), first_burst=5.0).program, seed=seed, until=200.0)
    answered = found.requests.completed[found.requests.end >= 160.0].mean()
    match finding.verdict:
        case Verdict.PROVED:
            assert answered > 0.9, text
        case Verdict.CONFLICT:
            assert answered < 0.1, text
        case _:
            assert seed in LEFT_OPEN, f"{finding.message}\n{text}"
            assert "needs a simulation" in finding.message


@pytest.mark.slow
def test_the_conflict_says_when_and_how_much() -> None:
    finding = asked(HALF_LOAD)
    assert finding.verdict is Verdict.CONFLICT
    assert [step.time for step in finding.evidence.witness[:2]] == [0, 3]
    assert len({(place.line, place.column) for place in finding.places}) >= 3
    assert all(place.label for place in finding.places)
    assert {"edge load", "healthy load", "overload load", "shortest pause that collapses"} <= set(
        finding.evidence.numbers
    )
    assert finding.repairs
    assert all(repair.verified for repair in finding.repairs)


@pytest.mark.parametrize(
    "text",
    [
        HALF_LOAD.replace("copies: 4", "copies: 7"),
        HALF_LOAD.replace("abandon", "cancel"),
        HALF_LOAD + "limits: {cap: {counts: clients.retries in flight, at_most: 3, when_full: reject}}",
        HALF_LOAD + "limits: {cap: {counts: workers in flight, at_most: 20, when_full: reject}}",
    ],
)
def test_what_is_proved_carries_a_certificate(text: str) -> None:
    finding = asked(text)
    assert finding.verdict is Verdict.PROVED
    assert finding.assumptions
    assert finding.evidence.certificate
    assert solver.unsat(finding.evidence.certificate, timeout_ms=5000).unsat


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ("{counts: clients.retries in flight, at_most: 3, when_full: wait}", "retries that wait are sent later"),
        pytest.param(
            "{counts: attempts(workers), at_most: 3, window: 1 min, when_full: reject}",
            "counts something else",
            marks=pytest.mark.slow,
        ),
        ("{counts: clients.retries in flight, at_most: 3, per: worker, when_full: reject}", "of each, not of all"),
    ],
)
def test_a_limit_that_bounds_nothing_proves_nothing(limit: str, why: str) -> None:
    text = HALF_LOAD.replace("abandon}", "abandon, budget: cap}") + f"limits: {{cap: {limit}}}"
    assert asked(text).verdict is Verdict.CONFLICT, why


@pytest.mark.slow
def test_noise_is_an_estimate_and_says_so() -> None:
    finding = asked(AT_80)
    assert finding.verdict is Verdict.CONFLICT
    assert finding.evidence.grade is Grade.ESTIMATED
    assert finding.certainty == "possible"
    assert any("factor of two" in text for text in finding.assumptions)
    assert float(finding.evidence.numbers["mean time until noise collapses it"][0]) == pytest.approx(31.7, rel=0.01)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (HALF_LOAD.replace(", on_timeout: abandon", ""), "on_timeout of clients -> workers"),
        (HALF_LOAD.replace(", cv: 1", "").replace("abandon", "cancel"), "cv of the service of clients"),
        (AT_80.replace(", cv: 1", ""), "cv of the service of clients"),
        (AT_80.replace("rate: 80 req/s", "rate: 30 req/s").replace("tries: 3", "tries: 4"), "a disturbance"),
    ],
)
def test_what_is_missing_is_named(text: str, missing: str) -> None:
    finding = asked(text)
    assert finding.verdict is Verdict.UNDECIDED
    assert missing in finding.message


def test_more_retries_than_are_safe_are_repaired_to_the_last_safe_number() -> None:
    finding = asked(HALF_LOAD.replace("rate: 50 req/s", "rate: 30 req/s").replace("tries: 3", "tries: 6"))
    news = {edit.new for repair in finding.repairs for edit in repair.edits}
    assert {"3", "8"} & news == {"3", "8"}  # 3 x 30 < 100; 6 x 30 < 8 x 25


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "imported"),
    [
        (HALF_LOAD.replace("abandon", "cancel"), []),
        (HALF_LOAD, ["numpy", "scipy"]),  # the chain that an overload by mean rates is laid beside
    ],
)
def test_the_closed_forms_import_nothing_heavy(text: str, imported: list[str]) -> None:
    code = (
        "import sys\n"
        "from coherence.language.reading import read_text\n"
        "from coherence.findings.question_input import Subject\n"
        "from coherence.verify.patterns.calls.metastable_retries import ask\n"
        f"print([f.verdict for f in ask(Subject(read_text({text!r}, 'd.yaml')))])\n"
        "print(sorted({'numpy', 'scipy', 'z3', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.search(r"Verdict\.(CONFLICT|PROVED)", done.stdout)
    assert done.stdout.strip().endswith(str(imported))
