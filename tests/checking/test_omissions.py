"""An answer says what the parts that it is about leave out of the programs they stand for."""

from __future__ import annotations

from dataclasses import replace

from coherence.checking.design_check import analyse
from coherence.checking.omissions import with_omissions
from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.language import catalogue
from coherence.language.entries.omissions import omissions_of
from coherence.language.reading import read_text

DESIGN = """coherence: 1
components: {web: {cpu: 7 / web.replicas}}
loops:
  hpa:
    uses: kubernetes_hpa
    target: {signal: web.cpu, setpoint: 70 %}
    actuation: {signal: web.replicas, bounds: [2, 12], from: 8}
  other:
    uses: kubernetes_hpa
    target: {signal: web.cpu, setpoint: 70 %}
    actuation: {signal: api.replicas, bounds: [2, 12]}
timers: {start: {uses: startup_probe, from: web starts, then: restart web}}
calls: [{uses: sdk_retry, from: web, to: store}]
"""


def answer(verdict: Verdict, of: tuple[str, ...]) -> Finding:
    evidence = Evidence(Grade.PROVED, "a run")
    return Finding(
        "COH301", "slug", verdict, Severity.INFO, "it settles", (), of, evidence, assumptions=("clocks agree",)
    )


def test_an_answer_names_what_its_parts_leave_out_once_for_each_part() -> None:
    design = read_text(DESIGN)
    proof = with_omissions(answer(Verdict.PROVED, ("hpa", "other")), design)
    assert proof.assumptions == ("clocks agree", *catalogue.omissions("loops", "kubernetes_hpa"))
    assert any("several metrics" in text for text in proof.assumptions)


def test_timers_calls_and_limits_are_parts_as_well() -> None:
    assert set(omissions_of(read_text(DESIGN))) == {"hpa", "other", "start", "web -> store"}


def test_what_decides_nothing_or_uses_no_part_stays_as_it_is() -> None:
    design = read_text(DESIGN)
    for finding in (answer(Verdict.UNDECIDED, ("hpa",)), answer(Verdict.PROVED, ("web",))):
        assert with_omissions(finding, design) == finding
    plain = replace(answer(Verdict.PROVED, ("hpa",)), assumptions=())
    assert with_omissions(plain, read_text("coherence: 1\nloops: {hpa: {}}")) == plain


def test_findings_of_a_check_carry_them() -> None:
    design = read_text(DESIGN)
    answers = analyse(design, {design.file: design.text}, lambda _: design, verify_repairs=False)
    about = [finding for finding in answers.findings if "hpa" in finding.of and finding.verdict.decides]
    assert about
    assert all(set(catalogue.omissions("loops", "kubernetes_hpa")) <= set(finding.assumptions) for finding in about)


POINTED = """coherence: 1
components:
  agent: {uses: agent_loop, turns: 40, first_tokens: 9 token, tokens_per_turn: 9 token, model_time: 1 s, tool_time: 1 s}
limits: {steps: {counts: agent.steps, at_most: 100 step}}
"""


def test_an_answer_that_only_points_at_an_entry_names_what_its_part_leaves_out() -> None:
    design = read_text(POINTED)
    place = design.components["agent"].constants["turns"].place
    pointing = replace(answer(Verdict.PROVED, ("steps",)), places=(place.labelled("so many"),))
    assert set(catalogue.omissions("components", "agent_loop")) <= set(with_omissions(pointing, design).assumptions)
    elsewhere = replace(pointing, places=(design.limits["steps"].place,))
    assert with_omissions(elsewhere, design) == elsewhere


def test_entries_of_one_name_keep_the_omissions_of_each() -> None:
    design = read_text(
        "coherence: 1\nloops: {web: {uses: kubernetes_hpa, target: {signal: web.cpu, setpoint: 70 %}, "
        "actuation: {signal: web.replicas, bounds: [2, 12]}}}\n"
        "timers: {web: {uses: startup_probe, from: web starts, then: restart web}}\n"
    )
    both = {*catalogue.omissions("loops", "kubernetes_hpa"), *catalogue.omissions("timers", "startup_probe")}
    assert set(omissions_of(design)["web"]) == both
