"""Pairs of policies and promises, counted by what is known of them."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.findings.accounting import account, policies
from coherence.findings.finding import Accounting, Evidence, Finding, Grade, Severity, Verdict
from coherence.language.reading import read_text

LOOP = "{{trigger: {reads} > 3, actuation: {{signal: {writes}, law: step, by: 1, bounds: [0, 9]}}}}"


def finding(verdict: Verdict, *of: str, grade: Grade = Grade.PROVED) -> Finding:
    return Finding("COH000", "", verdict, Severity.INFO, "", (), of, Evidence(grade, ""))


def counted(text: str, *findings: Finding) -> Accounting:
    return account(read_text(f"coherence: 1\n{text}", "design.yaml"), findings)


def loops(components: str = "", **reads_and_writes: str) -> str:
    rows = (
        f"  {name}: {LOOP.format(reads=words.split()[0], writes=words.split()[1])}\n"
        for name, words in reads_and_writes.items()
    )
    return f"{components}loops:\n{''.join(rows)}"


def states(sums: Accounting) -> tuple[int, int, int, int, int]:
    return sums.conflict, sums.safe, sums.undecided, sums.not_modelled, sums.unrelated


def test_policies_that_share_nothing_are_unrelated_and_not_safe() -> None:
    assert states(counted(loops(a="x.load x.size", b="y.load y.size"))) == (0, 0, 0, 0, 1)


def test_policies_that_share_a_thing_are_safe_only_where_a_proof_names_both() -> None:
    text = loops(a="x.load x.size", b="x.load x.count")
    assert states(counted(text)) == (0, 0, 0, 1, 0)
    assert states(counted(text, finding(Verdict.PROVED, "a"))) == (0, 0, 0, 1, 0)
    assert states(counted(text, finding(Verdict.PROVED, "a", "b"))) == (0, 1, 0, 0, 0)


def test_what_only_a_simulation_supports_is_not_safe() -> None:
    text = loops(a="x.load x.size", b="x.load x.count")
    assert states(counted(text, finding(Verdict.PROVED, "a", "b", grade=Grade.SIMULATED))) == (0, 0, 1, 0, 0)


def test_one_question_that_gave_up_outweighs_every_proof() -> None:
    text = loops(a="x.load x.size", b="x.load x.count")
    proof, unclear = finding(Verdict.PROVED, "a", "b"), finding(Verdict.UNDECIDED, "a", "b")
    assert states(counted(text, proof, unclear)) == (0, 0, 1, 0, 0)
    assert states(counted(text, proof, unclear, finding(Verdict.CONFLICT, "b", "a"))) == (1, 0, 0, 0, 0)


def test_a_thing_is_shared_through_formulas() -> None:
    components = "components: {y: {load: x.size / 2}, z: {load: y.load}}\n"
    assert states(counted(loops(components, a="x.load x.size", b="z.load w.size"))) == (0, 0, 0, 1, 0)
    assert states(counted(loops(components, a="x.load v.size", b="v.load w.size"))) == (0, 0, 0, 1, 0)
    assert states(counted(loops(components, a="y.load v.size", b="u.load w.size"))) == (0, 0, 0, 0, 1)


def test_policies_whose_things_run_on_one_tier_share_it() -> None:
    parts = "components: {{x: {{runs_on: h100}}, y: {{runs_on: {}}}}}\n"
    writers = {"a": "x.load x.size", "b": "y.load y.size"}
    assert states(counted(loops(parts.format("h100"), **writers))) == (0, 0, 0, 1, 0)
    assert states(counted(loops(parts.format("a100"), **writers))) == (0, 0, 0, 0, 1)


def test_calls_of_one_chain_are_related() -> None:
    text = "calls: [{from: a, to: b}, {from: b, to: c}, {from: c, to: d}, {from: v, to: w}]\n"
    assert states(counted(text)) == (0, 0, 0, 3, 3)


def test_promises_are_counted_by_their_answers() -> None:
    text = "promises: {p: always x.a <= 1, q: always x.b <= 1, r: always x.c <= 1}\n"
    sums = counted(text, finding(Verdict.PROVED, "p"), finding(Verdict.UNDECIDED, "q"))
    assert (sums.promises, sums.promises_proved, sums.promises_undecided, sums.promises_conflict) == (3, 1, 1, 0)


def test_sums_of_accountings_add_every_count() -> None:
    one = Accounting(*range(1, 15))
    assert one + one == Accounting(*(2 * number for number in range(1, 15)))


NAMES = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True)
FINDINGS = st.lists(st.tuples(st.sampled_from(list(Verdict)), NAMES), max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("uvw"), st.sampled_from("xyz")), min_size=2, max_size=6), FINDINGS)
def test_every_pair_is_counted_once_by_its_worst_finding(
    used: list[tuple[str, str]], answers: list[tuple[Verdict, list[str]]]
) -> None:
    text = loops(**{"abcdef"[i]: f"{reads}.load {writes}.size" for i, (reads, writes) in enumerate(used)})
    design = read_text(f"coherence: 1\n{text}", "design.yaml")
    sums = account(design, [finding(verdict, *of) for verdict, of in answers])
    assert sums.pairs == len(used) * (len(used) - 1) // 2
    named = {frozenset(pair) for verdict, of in answers if verdict is Verdict.CONFLICT for pair in combinations(of, 2)}
    assert sums.conflict == sum(frozenset(pair) in named for pair in combinations(policies(design), 2))
    open_ = (Verdict.UNDECIDED, Verdict.VACUOUS, Verdict.NOTE, Verdict.CONFLICT)
    proofs = [set(of) for verdict, of in answers if verdict is Verdict.PROVED]
    unclear = [set(of) for verdict, of in answers if verdict in open_]
    safe = sum(
        any(set(pair) <= of for of in proofs) and not any(set(pair) <= of for of in unclear)
        for pair in combinations(policies(design), 2)
    )
    assert sums.safe == safe
