"""LLMInferenceService and its Config: the pods of their parts, with their probes, needs and numbers."""

from __future__ import annotations

from pathlib import Path

from coherence import importers
from coherence.checking.reports import check
from coherence.checking.workspace import open_workspace
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.value_texts import text
from tests.paths import DATA

CONFIG = DATA / "manifests/deployment-probes/kserve-config-llm-prefill-template.yaml"
POD = "containers: [{name: main, resources: {requests: {nvidia.com/gpu: 1}}, livenessProbe: {periodSeconds: 10}}]"


def service(spec: str) -> str:
    head = "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nmetadata: {name: qwen}\n"
    return f"{head}spec: {{{spec}}}\n"


def read(spec: str) -> Design:
    return importers.design_from_sources({"qwen.yaml": service(spec)})


def test_each_part_has_its_own_pods() -> None:
    parts = f"template: {{{POD}}}, worker: {{{POD}}}, prefill: {{replicas: 2, template: {{{POD}}}}}"
    design = read(f"replicas: 3, {parts}, router: {{scheduler: {{template: {{{POD}}}}}}}")
    assert {name: text(thing.copies) for name, thing in design.components.items()} == {
        "qwen": "3", "qwen_worker": "3", "qwen_prefill": "2", "qwen_scheduler": "None",
    }  # fmt: skip
    assert set(design.timers) == {f"{name}_liveness" for name in design.components}


def test_a_template_in_an_argument_stops_nothing() -> None:
    assert set(read("template: {containers: [{name: main, args: ['{{ .Spec.Model }}']}]}").components) == {"qwen"}


OVERLAY = "coherence: 1\noverlays: manifests\ncomponents: {qwen: {takes: {load: %s}}}\n"


def test_a_load_longer_than_its_liveness_probe_is_a_conflict_and_its_repaired_twin_is_none(tmp_path: Path) -> None:
    (tmp_path / "qwen.yaml").write_text(service(f"template: {{{POD}}}"))
    for load, conflict in (("5 min", True), ("10 s", False)):
        (tmp_path / "overlay.yaml").write_text(OVERLAY.replace("%s", load))
        found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
        assert bool(found) is conflict


def test_the_pods_of_a_public_config_are_read_though_arguments_are_templates() -> None:
    design = open_workspace([CONFIG]).entries[0].design
    assert set(design.components) == {"kserve_config_llm_prefill_template_prefill"}
    assert len(design.timers) == 6  # three probes, two of which ask the same under overload too, and the grace
    assert not [finding for finding in check(CONFIG).findings if finding.verdict is Verdict.CONFLICT]
