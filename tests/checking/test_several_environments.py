"""What `check` says of a design in several environments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.checking.reports import report
from coherence.checking.several_environments import InEnvironment, joined_findings, joined_not_read
from coherence.checking.since import changed_policies
from coherence.checking.workspace import open_text
from coherence.cli._run import run
from coherence.exploring.box_answers import BoxJob
from coherence.findings import baselines
from coherence.findings.accounting import account_together
from coherence.findings.finding import Finding, Report, Verdict
from coherence.language.environments.overlay import chosen_environment, read_in_environment
from coherence.simulate.study.samples import _read

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
    sums = answered.accounting
    assert (sums.designs, sums.calls, sums.timers, sums.pairs) == (1, 1, 1, 1), "each policy is counted once"
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


TWO = TEXT.replace("  far:\n", "  far:\n    timers: {guard: {from: web starts, after: 1 min, then: web ends}}\n")


def test_a_pair_is_safe_only_where_it_is_in_every_environment_that_has_it() -> None:
    near, far = (read_in_environment(TWO, "d", name) for name in ("near", "far"))
    proof, unclear = (
        replace(checked(TEXT).findings[0], of=("web -> shop", "probe"), verdict=verdict)
        for verdict in (Verdict.PROVED, Verdict.UNDECIDED)
    )
    both = account_together([(near, [proof]), (far, [proof])])
    assert (both.timers, both.pairs, both.safe, both.undecided) == (2, 3, 1, 0)
    assert account_together([(near, [proof]), (far, [unclear])]).undecided == 1
    silent = account_together([(near, [proof]), (far, [])])
    assert (silent.safe, silent.not_modelled) == (0, both.not_modelled + 1)


@pytest.mark.slow
def test_a_baseline_of_all_environments_knows_what_is_in_one_and_the_other_way(tmp_path: Path) -> None:
    file, known = tmp_path / "d.yaml", str(tmp_path / "b.json")
    file.write_text(TEXT, encoding="utf-8")
    assert run(["check", str(file), "--no-cache"]) == 1
    run(["baseline", "write", str(file), "-f", known])
    assert run(["check", str(file), "--no-cache", "--baseline", known]) == 0
    assert run(["--in", "far", "check", str(file), "--no-cache", "--baseline", known]) == 0
    file.write_text(TEXT.replace("near:\n", "near:\n    calls: [{from: web, to: shop, per_try: 700 ms}]\n"))
    assert run(["--in", "near", "check", str(file), "--no-cache", "--baseline", known]) == 1, "known in far alone"
    run(["--in", "near", "baseline", "write", str(file), "-f", known])
    assert {entry.environments for entry in baselines.read(known)} == {("far",), ("near",)}
    assert [run(["--in", name, "check", str(file), "--baseline", known]) for name in ("near", "far")] == [0, 0]


def test_an_environment_that_went_changes_no_policy() -> None:
    before = open_text(TEXT, "d")
    after = open_text(TEXT[: TEXT.index("  far:")], "d")
    assert [*changed_policies(before, after)] == []
    assert [*changed_policies(after, before)] == []
    later = open_text(TEXT.replace("800 ms", "900 ms"), "d")
    assert [(policy.how, policy.name) for policy in changed_policies(before, later)] == [("changed", "web -> shop")]


def test_a_worker_reads_a_design_in_its_environment() -> None:
    near, far = (BoxJob((), ("COH201",), (("d", TEXT),), 20.0, environment=name)(()).rows for name in ("near", "far"))
    assert [kind for kind, *_ in near] == ["proved"] * 2
    assert sorted(kind for kind, *_ in far) == ["possible", "proved"]
    assert _read((("d", TEXT),), "far").environment == "far"


@pytest.mark.parametrize("command", ["bound", "graph", "inventory"])
def test_other_commands_name_environments(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(TEXT, encoding="utf-8")
    assert run([command, str(file)]) == 0
    shown = capsys.readouterr().out
    assert "in near" in shown
    assert "in far" in shown
