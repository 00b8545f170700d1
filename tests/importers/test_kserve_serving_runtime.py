"""Both kinds of ServingRuntime of KServe: its pods with their probes and flags, and the time to load a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict

RUNTIME = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: llm}
spec:
  supportedModelFormats: [{name: vllm}]
  builtInAdapter: {serverType: triton, modelLoadingTimeoutMillis: 90000}
  containers:
    - name: kserve-container
      command: [python3, -m, vllm.entrypoints.openai.api_server]
      args: ["--model={{.Name}}", --max-num-seqs=8]
      startupProbe: {httpGet: {path: /health, port: 8080}, periodSeconds: 10, failureThreshold: 30}
  workerSpec: {pipelineParallelSize: 2, containers: [{name: worker}]}
"""
OVERLAY = """\
coherence: 1
overlays: manifests
components: {llm_runtime: {takes: {load: LOAD}}}
"""


@pytest.mark.parametrize("kind", ["ServingRuntime", "ClusterServingRuntime"])
def test_pods_flags_and_the_time_to_load_are_read(kind: str) -> None:
    design = importers.design_from_sources({"runtime.yaml": RUNTIME.replace("ServingRuntime", kind)})
    assert set(design.components) == {"llm_runtime", "llm_runtime_worker"}
    assert set(design.timers) == {"llm_runtime_startup", "llm_runtime_loading"}
    assert str(design.limits["llm_runtime_max_num_seqs"].at_most) == "8"
    assert str(design.timers["llm_runtime_loading"].after) == "90000 ms"


@pytest.mark.parametrize(("load", "conflict"), [("30 s .. 120 s", True), ("30 s .. 80 s", False)])
def test_a_model_that_loads_longer_than_its_server_waits_is_a_conflict(
    load: str, conflict: bool, tmp_path: Path
) -> None:
    (tmp_path / "runtime.yaml").write_text(RUNTIME)
    (tmp_path / "overlay.yaml").write_text(OVERLAY.replace("LOAD", load))
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert ("COH207" in found) is conflict
