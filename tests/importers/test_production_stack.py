"""Values of the vLLM production stack: the objects that its chart makes, with its defaults, places kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language import document
from coherence.language.design import Design
from tests.importers.value_texts import text
from tests.paths import DATA

REAL = DATA / "manifests/vllm-helm/values-06-session-routing.yaml"


def values(model: str = "", engines: str = "", more: str = "") -> str:
    return f"servingEngineSpec: {{{engines}modelSpec: [{{name: llama, replicaCount: 2, {model}}}]}}\n{more}"


def read(text: str) -> Design:
    return importers.design_from_sources({"values.yaml": text})


def test_a_model_is_a_deployment_with_the_probes_of_the_chart() -> None:
    design = read(values("requestGPU: 1, requestMemory: 16Gi"))
    startup = design.timers["values_llama_startup"]
    assert (text(startup.first), text(startup.every), text(startup.misses)) == ("15 s", "10 s", "60")
    assert text(design.timers["values_llama_progress"].after) == "1200 s"
    assert text(design.limits["values_llama_surge"].at_most) == "100 % of values_llama.copies round up"


def test_what_the_values_say_counts_before_the_defaults_of_the_chart() -> None:
    probe = "startupProbe: {initialDelaySeconds: 20, failureThreshold: 3}, strategy: {type: Recreate}, "
    design = read(values(engines=probe))
    startup = design.timers["values_llama_startup"]
    assert (text(startup.first), text(startup.every), text(startup.misses)) == ("20 s", "10 s", "3")
    assert not design.limits


def test_slots_stand_at_the_line_of_the_values() -> None:
    design = read(values("\n  vllmConfig: {\n    maxNumSeqs: 32, extraArgs: [--seed, '1']}"))
    limit = design.limits["values_llama_max_num_seqs"]
    assert limit.at_most is not None
    assert (text(limit.at_most), limit.at_most.place.line) == ("32", 3)


def test_keda_writes_the_replicas_in_place_of_their_number() -> None:
    design = read(values("keda: {enabled: true, minReplicaCount: 1, maxReplicaCount: 5}"))
    loop = design.loops["values_llama_scaledobject"]
    assert loop.actuation is not None
    assert [text(end) for end in loop.actuation.bounds] == ["1", "5"]
    assert loop.target is not None
    assert text(loop.target.setpoint) == "5"
    assert text(design.components["values_llama"].copies) == "1 .. 5"
    assert set(design.loops) == {"values_llama_scaledobject"}


@pytest.mark.parametrize(
    ("budget", "kept"), [("minAvailable: 1", "1"), ("maxUnavailable: 0", "None"), ("labels: {}", "0")]
)
def test_a_budget_is_that_of_its_pods(budget: str, kept: str) -> None:
    design = read(values(f"pdb: {{enabled: true, {budget}}}"))
    (limit,) = [limit for name, limit in design.limits.items() if "budget" in name or "pdb" in name]
    assert text(limit.at_least) == kept


def test_the_router_has_an_autoscaler_of_its_own() -> None:
    router = "routerSpec: {replicaCount: 2, autoscaling: {enabled: true, minReplicas: 1, maxReplicas: 3}}\n"
    assert set(read(values(more=router)).loops) == {"values_router_hpa"}


@pytest.mark.parametrize(
    "text_of_values",
    [
        values("enabled: false"),
        values(engines="enableEngine: false, "),
        values("raySpec: {enabled: true}"),
        "routerSpec: {enableRouter: false}\n",
        "servingEngineSpec: {modelSpec: []}\n",
    ],
)
def test_what_is_switched_off_is_nothing(text_of_values: str) -> None:
    design = read(text_of_values)
    assert not any((design.components, design.timers, design.limits, design.loops))


def test_no_token_of_the_values_is_shown() -> None:
    design = read(values("hf_token: hf_secret123456, env: [{name: KEY, value: hunter22}]"))
    assert not any("hunter22" in words or "hf_secret" in words for _, words in design.not_modelled)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("servingEngineSpec: {modelSpec: []}\n", "ProductionStack"),
        ("routerSpec: {routingLogic: session}\n", "ProductionStack"),
        ("servingEngineSpec: {}\n", ""),
        ("routerSpec: 3\n", ""),
    ],
)
def test_it_is_known_by_its_content(content: str, kind: str) -> None:
    (source,) = document.read_text(content, "values.yaml")
    assert importers.kind_of(source) == kind


OVERLAY = """\
coherence: 1
overlays: manifests
components:
  values_06_session_routing_router: {takes: {load: 10 s .. 60 s}}
"""


def test_a_real_file_has_no_finding_until_its_router_loads_longer_than_its_probe_waits(tmp_path: Path) -> None:
    assert not [f for f in check(REAL).findings if f.verdict is Verdict.CONFLICT]
    (tmp_path / REAL.name).write_text(REAL.read_text())
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    conflicts = [f for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT]
    assert len(conflicts) == 1
    assert {place.line for place in conflicts[0].places if place.file.endswith(REAL.name)} & {60, 61, 62, 63}
