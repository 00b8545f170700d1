"""What `check` says of a design in several environments."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coherence.base.errors import InputError
from coherence.checking.several_environments import InEnvironment, joined_findings, joined_not_read
from coherence.checking.workspace import open_text, report
from coherence.findings.finding import Finding, Report, Verdict
from coherence.language.environments.overlay import chosen_environment, read_in_environment

TEXT = """\
coherence: 1
components: {web: {copies: 2}, shop: {copies: 3, takes: {serve: 10 ms .. 20 ms}}}
calls:
  - {from: web, to: shop, deadline: 1 s, per_try: 300 ms, tries: 2}
timers:
  probe: {from: shop starts, every: 10 s, misses: 3, then: shop ends}
environments:
  near:
  far:
    calls: [{from: web, to: shop, per_try: 800 ms}]
"""


def checked(text: str, **options: object) -> Report:
    return report(open_text(text, "d"), select=("COH201",), **options)  # type: ignore[arg-type]


def with_script(finding: Finding, script: str) -> Finding:
    return replace(finding, evidence=replace(finding.evidence, certificate=script))


def own(finding: Finding) -> tuple[str, str, tuple[str, ...]]:
    return finding.code, str(finding.verdict), finding.environments


def test_what_differs_says_where_and_what_is_alike_is_said_once() -> None:
    answered = checked(TEXT)
    assert sorted(map(own, answered.findings)) == [
        ("COH201", "conflict", ("far",)),
        ("COH201", "proved", ()),
        ("COH201", "proved", ("near",)),
    ]
    assert all(f.message.startswith(f"in {f.environments[0]}: ") for f in answered.findings if f.environments)
    alike = checked(TEXT.replace("800 ms", "300 ms"))
    assert [own(finding) for finding in alike.findings] == [("COH201", "proved", ())] * 2
    assert answered.accounting.designs == 2
    assert "d is asked about as it is in near and far" in answered.assumptions


def test_a_chosen_environment_is_the_design_alone() -> None:
    with chosen_environment("far"):
        findings = checked(TEXT).findings
    plain = TEXT[: TEXT.index("environments")].replace("300 ms", "800 ms")
    expected = checked(plain).findings
    assert [(f.message, f.fingerprint) for f in findings] == [(f.message, f.fingerprint) for f in expected]


def test_a_repair_of_one_environment_is_a_candidate() -> None:
    conflict = next(f for f in checked(TEXT).findings if f.verdict is Verdict.CONFLICT)
    assert conflict.repairs
    assert not any(repair.proved for repair in conflict.repairs)
    assert all("(in far)" in repair.verified for repair in conflict.repairs)


def test_a_proof_in_all_environments_has_the_certificates_of_all() -> None:
    proof = next(finding for finding in checked(TEXT).findings if finding.verdict is Verdict.PROVED)
    answers = [
        InEnvironment(read_in_environment(TEXT, "d", name), (with_script(proof, script),), ())
        for name, script in (("near", "(assert a)\n"), ("far", "(assert b)\n"))
    ]
    assert [finding.evidence.certificate for finding in joined_findings(answers)] == [
        "(assert a)\n(reset)\n(assert b)\n"
    ]
    without = replace(proof, evidence=replace(proof.evidence, certificate=None))
    partly = joined_findings([answers[0], replace(answers[1], findings=(without,))])
    assert [finding.evidence.certificate for finding in partly] == [None]  # no certificate of a part stands for all
    same = joined_findings([answers[0], replace(answers[1], findings=answers[0].findings)])
    assert same == answers[0].findings


def test_a_value_is_not_read_where_no_environment_reads_it() -> None:
    far = "    calls: [{from: web, to: shop, per_try: 800 ms}]\n"
    lines = checked(TEXT.replace(far, f"{far}    prices: {{shop: 2 usd/h}}\n")).not_read
    named = {(line.section, line.entry, line.place.line) for line in lines}
    assert ("prices", "shop", 11) in named
    assert not any(line.section == "environments" for line in lines)  # each of its values is read in one of the two
    both = TEXT.replace("  near:\n", "  near: {calls: [{from: web, to: shop, per_try: 200 ms}]}\n")
    overridden = [line for line in checked(both).not_read if line.section == "environments"]
    assert [(line.entry, line.place.line) for line in overridden] == [("calls.0.per_try", 4)]
    assert joined_not_read([]) == ()


def test_problems_of_all_environments_come_at_once_and_each_once() -> None:
    with pytest.raises(InputError) as error:
        checked(TEXT.replace("misses: 3", "misses: x").replace("800 ms", "y"))
    assert [problem.place.line for problem in error.value.problems] == [6, 10]


def test_a_joined_proof_stands_on_all_that_it_stands_on_anywhere() -> None:
    text = TEXT.replace("800 ms", "400 ms")
    proof = next(f for f in checked(text).findings if f.verdict is Verdict.PROVED and not f.environments)
    alone = []
    for name in ("near", "far"):
        with chosen_environment(name):
            alone += [f for f in checked(text).findings if f.verdict is Verdict.PROVED and f.of == proof.of]
    assert {words for f in alone for words in f.assumptions} == set(proof.assumptions)
    values = {value for f in alone for value in f.evidence.numbers.values()}
    assert values == set(proof.evidence.numbers.values())
    assert any(name.endswith("(in far)") for name in proof.evidence.numbers)


def test_a_suppression_is_unused_where_no_environment_uses_it() -> None:
    comment = "    # coherence: ignore[COH201] -- far is known\n"
    text = TEXT.replace("    calls: [{", f"{comment}    calls: [{{")
    every = report(open_text(text, "d"), select=("COH201", "COH102"))
    assert [own(finding) for finding in every.suppressed] == [("COH201", "conflict", ("far",))]
    assert not [finding for finding in every.findings if finding.code == "COH102"]
    unused = report(open_text(text.replace("800 ms", "300 ms"), "d"), select=("COH201", "COH102"))
    assert [finding.code for finding in unused.findings if finding.code == "COH102"] == ["COH102"]


@pytest.mark.parametrize("turned", [False, True])
def test_the_environment_that_has_a_value_says_that_it_is_not_read(turned: bool) -> None:
    blocks = ["  near:\n", "  far:\n    components: {web: {copies: 3}}\n"]
    text = TEXT[: TEXT.index("  near:")] + "".join(blocks[::-1] if turned else blocks)
    lines = [line for line in checked(text).not_read if line.key == "copies" and line.entry == "web"]
    assert [line.reason for line in lines]
    assert not any("states it itself" in line.reason for line in lines)
    assert not [line for line in checked(text).not_read if line.section == "environments"]


def test_the_order_of_environments_names_no_other_finding() -> None:
    finding = replace(checked(TEXT).findings[0], environments=("a", "b"))
    assert finding.fingerprint == replace(finding, environments=("b", "a")).fingerprint
