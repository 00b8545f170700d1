"""LLMInferenceServiceConfig: the pods of a public template, of which no probe runs into the start."""

from __future__ import annotations

from coherence.checking.workspace import check, open_workspace
from coherence.findings.finding import Verdict
from tests.paths import DATA

FILE = DATA / "manifests/deployment-probes/kserve-config-llm-prefill-template.yaml"


def test_its_pods_are_read_though_arguments_are_templates() -> None:
    design = open_workspace([FILE]).entries[0].design
    assert set(design.components) == {"kserve_config_llm_prefill_template_prefill"}
    assert len(design.timers) == 6  # three probes, two of which ask the same under overload too, and the grace


def test_nothing_of_it_contradicts_itself() -> None:
    assert not [finding for finding in check(FILE).findings if finding.verdict is Verdict.CONFLICT]
