"""vLLM: what one replica takes is read from the command of its container, and bounds what an autoscaler can measure."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.value_texts import text

SCALER = """---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {kind: Deployment, name: web}
  maxReplicas: 9
  metrics: [{type: Pods, pods: {metric: {name: NAME}, target: {type: AverageValue, averageValue: TARGET}}}]
"""


def deployment(container: str) -> str:
    pod = f"{{name: server, {container}}}"
    spec = f"{{template: {{spec: {{containers: [{pod}]}}}}}}"
    return f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {spec}\n"


def read(container: str) -> Design:
    return importers.design_from_sources({"web.yaml": deployment(container)})


@pytest.mark.parametrize(
    "container",
    [
        "image: vllm/vllm-openai:v0.11, args: [--model, m, --max-num-seqs, '64']",
        "command: [vllm, serve, m, --max-num-seqs=64]",
        "command: [/opt/venv/bin/vllm, serve, m, --max_num_seqs=64]",
        "command: [python3, -m, vllm.entrypoints.openai.api_server, --max-num-seq, '64']",
        "command: [sh, -c, 'pip install x; exec vllm serve m --max-num-seqs 64 # slots']",
        "command: [/bin/bash, -lc], args: ['A=1 vllm serve m --max-num-seqs 64 && echo done']",
        r'command: [bash, -c, "vllm serve m \\\n  --max-num-seqs 64 \\\n  --seed -1"]',
    ],
)
def test_the_requests_of_one_replica_are_a_limit(container: str) -> None:
    (limit,) = read(container).limits.values()
    assert (str(limit.counts), str(limit.at_most), str(limit.per), str(limit.when_full)) == (
        "web.vllm_num_requests_running", "64", "replica", "wait",
    )  # fmt: skip


@pytest.mark.parametrize(
    "container",
    [
        "command: [vllm, serve, m]",
        "command: [other, --max-num-seqs=64]",
        "command: [sh, -c, 'vllm serve --max-num-seqs $N']",
        "command: [sh, -c, 'vllm serve --max-num-seqs 64 \"open']",
        "command: []",
        "command: [sh, -c]",
    ],
)
def test_what_is_not_written_is_not_stated(container: str) -> None:
    assert not read(container).limits


def test_a_variable_and_what_is_not_modelled_are_listed_without_values() -> None:
    flags = "--max-num-seqs=${N}, --max-model-len=4096, --api-key=hunter22, --gpu-memory-utilization=0.9"
    listed = " ".join(
        words
        for _, words in read(
            f"command: [vllm, serve, m, '{flags.replace(', ', chr(39) + ', ' + chr(39))}']"
        ).not_modelled
    )
    assert "--max-num-seqs of spec.template.spec.containers[0] (known at run time)" in listed
    assert "--max-model-len" in listed
    assert "--api-key of spec.template.spec.containers[0] (not modelled)" in listed
    assert "hunter22" not in listed


def test_every_word_of_a_command_is_read_or_listed() -> None:
    words = "command: [vllm, serve, model], args: [--max-num-seqs, '8', --max-num-seqs=16, --seed, '7', last]"
    design = read(words)
    (limit,) = design.limits.values()
    assert text(limit.at_most) == "16"
    listed = [line.partition("Deployment web: ")[2] for _, line in design.not_modelled]
    inside = "spec.template.spec.containers"
    assert f"--max-num-seqs of {inside}[0] (written again further on, which counts)" in listed
    assert f"--seed of {inside}[0] (not modelled)" in listed
    assert any(f"{inside}.command, {inside}.args" in line and "wiring" in line for line in listed)


def test_what_else_a_shell_runs_is_listed() -> None:
    listed = read("command: [sh, -c, 'sleep 100; vllm serve m --max-num-seqs 8']").not_modelled
    assert any("what else its shell runs is not read" in words for _, words in listed)
    alone = read("command: [sh, -c, 'exec vllm serve m --max-num-seqs 8']").not_modelled
    assert not any("shell" in words for _, words in alone)


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="--max-num-seqs is 'many'"):
        read("command: [vllm, serve, m, --max-num-seqs=many]")


@pytest.mark.parametrize(
    "name",
    [
        "vllm:num_requests_running",
        "vllm_num_requests_running",
        "prometheus.googleapis.com|vllm:num_requests_running|gauge",
    ],
)
@pytest.mark.parametrize(("target", "conflict"), [("64", True), ("48", False)])
def test_a_target_that_a_replica_never_measures_is_a_conflict(
    name: str, target: str, conflict: bool, tmp_path: Path
) -> None:
    scaler = SCALER.replace("NAME", f'"{name}"').replace("TARGET", f"'{target}'")
    (tmp_path / "all.yaml").write_text(deployment("command: [vllm, serve, m, --max-num-seqs=64]") + scaler)
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert ("COH221" in found) is conflict
