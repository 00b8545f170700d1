"""VLLMRuntime: the Deployment and the autoscaler that the operator makes, with its defaults."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.value_texts import text
from tests.paths import DATA

REAL = DATA / "manifests/vllm-helm/production-stack_v1alpha1_vllmruntime_autoscaling.yaml"


def read(spec: str) -> Design:
    text = (
        f"apiVersion: production-stack.vllm.ai/v1alpha1\nkind: VLLMRuntime\nmetadata: {{name: web}}\nspec: {{{spec}}}\n"
    )
    return importers.design_from_sources({"runtime.yaml": text})


def test_the_pods_have_the_probes_of_the_operator() -> None:
    design = read("deploymentConfig: {replicas: 2, resources: {cpu: 8, gpu: 1}}, model: {maxNumSeqs: 32}")
    startup = design.timers["web_startup"]
    assert (text(startup.first), text(startup.every), text(startup.misses)) == ("120 s", "20 s", "100")
    assert text(design.components["web"].copies) == "2"
    assert text(design.limits["web_max_num_seqs"].at_most) == "32"


def test_an_autoscaler_has_the_defaults_of_the_operator() -> None:
    design = read("deploymentConfig: {replicas: 1}, autoscalingConfig: {enabled: true, maxReplicas: 4}")
    (loop,) = design.loops.values()
    assert loop.actuation is not None
    assert loop.timescale is not None
    assert [text(end) for end in loop.actuation.bounds] == ["1", "4"]
    assert (text(loop.timescale.hold_up), text(loop.timescale.hold_down)) == ("0 s", "300 s")
    assert [(text(rate.by), text(rate.per)) for rate in loop.actuation.rate] == [("1", "60 s"), ("1", "60 s")]


def test_scaling_to_zero_waits_as_long_as_it_is_told() -> None:
    policy = "minReplicas: 0, maxReplicas: 2, scaleDownPolicy: {scaleToZeroDelaySeconds: 600}"
    (timer,) = [
        one for name, one in read(f"autoscalingConfig: {{enabled: true, {policy}}}").timers.items() if "cool" in name
    ]
    assert text(timer.after) == "600 s"


@pytest.mark.parametrize("off", ["", "autoscalingConfig: {enabled: false, maxReplicas: 3}"])
def test_without_an_autoscaler_there_is_no_loop(off: str) -> None:
    assert not read(off).loops


@pytest.mark.parametrize(
    "broken", ["model: 3", "autoscalingConfig: {enabled: true, maxReplicas: many}", "vllmConfig: [1]"]
)
def test_a_wrong_value_is_refused(broken: str) -> None:
    with pytest.raises(InputError, match=r"runtime\.yaml:4"):
        read(broken)


@pytest.mark.slow
def test_in_a_real_file_each_overloaded_server_is_restarted_as_soon_as_it_is_taken_off() -> None:
    """The operator gives both probes 10 s + 10 x 20 s: a server that is only slow is killed."""
    conflicts = [f for f in check(REAL).findings if f.verdict is Verdict.CONFLICT]
    assert [f.code for f in conflicts] == ["COH208"] * 3
    assert all("readiness" in f.message and "liveness" in f.message for f in conflicts)
