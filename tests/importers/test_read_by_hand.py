"""The conflicts that a reading by hand of 123 public files finds, and what is found in all that are kept here.

The files were read kind by kind, without the tool; imports.md of the issue names some of them too.  Of those that are
not kept here one more conflicts: the router in values.yaml of the vLLM production stack asks the same of readiness and
liveness.  Found by the tool and not by hand, and read again: the slices of `mig`, the limits of `grpc`, the probes that
the operator fills in.  The sidecar was found by hand and not by the tool, which did not read sidecars.  The template of
`cloudformation` is another public file.
"""

from __future__ import annotations

import pytest

from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from tests.paths import DATA

MANIFESTS = DATA / "manifests"
RUNTIME = "vllm-helm/production-stack_v1alpha1_vllmruntime_autoscaling.yaml"
GPU = "hpa/k8s-examples-vllm-gpu-hpa.yaml"
Conflict = tuple[str, str, int]

# what is wrong, and where: its code, the file, and the line with which the finding leads
CONFLICTS: tuple[tuple[str, Conflict], ...] = (
    ("an HPA and a ScaledObject have one target", ("COH205", "hpa/production-stack-hpa-10.yaml", 11)),
    ("two HPAs have one target", ("COH205", GPU, 16)),
    ("its replicas are stated beside the first of these", ("COH205", GPU, 16)),
    ("its replicas are stated beside the second of these", ("COH205", "hpa/k8s-examples-vllm-hpa.yaml", 16)),
    ("replicas are stated beside an HPA", ("COH205", "hpa/k8s-failure-repro-C1-hpa.yaml", 15)),
    ("no node may be disrupted, all day and every day", ("COH213", "karpenter/disruption-budgets.yaml", 36)),
    ("a sidecar is restarted before it is unlisted", ("COH208", "kserve/config-llm-decode-template.yaml", 267)),
    ("readiness and liveness ask the same as often", ("COH208", "vpa/recommender-deployment.yaml", 44)),
    ("readiness and liveness ask the same as often", ("COH208", "vpa/updater-deployment.yaml", 47)),
    ("the operator asks the same of readiness and liveness", ("COH208", RUNTIME, 8)),
    ("the operator asks the same of readiness and liveness", ("COH208", RUNTIME, 37)),
    ("the operator asks the same of readiness and liveness", ("COH208", RUNTIME, 71)),
    ("a message comes back while its function may run", ("COH207", "cloudformation/sqs-lambda-dotnet-sam.yaml", 12)),
    ("fourteen slices of seven", ("COH209", "mig/nvidia-mig-config.yml", 58)),
    ("one slow try takes all the time", ("COH201", "grpc/googleapis-pubsub_grpc_service_config.json", 46)),
    ("one slow try takes all the time", ("COH201", "grpc/googleapis-pubsub_grpc_service_config.json", 106)),
)


def conflicts(*names: str) -> list[Conflict]:
    """Returns the conflicts of some files, or of all, by the place with which each leads."""
    found = check(*(MANIFESTS / name for name in names or ("",))).findings
    return sorted(
        (finding.code, finding.places[0].file.removeprefix(f"{MANIFESTS}/"), finding.places[0].line)
        for finding in found
        if finding.verdict is Verdict.CONFLICT
    )


@pytest.mark.slow
def test_all_of_them_are_found_and_nothing_else_is() -> None:
    assert conflicts() == sorted(conflict for _, conflict in CONFLICTS)


ALONE = [(code, file) for _, (code, file, _) in CONFLICTS if code != "COH205"]


@pytest.mark.slow
@pytest.mark.parametrize(("code", "file"), sorted(set(ALONE)))
def test_a_conflict_of_one_file_is_found_in_it_alone(code: str, file: str) -> None:
    assert conflicts(file) == sorted(conflict for _, conflict in CONFLICTS if conflict[:2] == (code, file))


def test_two_files_that_are_consistent_alone_conflict_together() -> None:
    pair = ("hpa/production-stack-hpa-10.yaml", "keda/production-stack-scaledobject.yaml")
    assert not any(conflicts(name) for name in pair)
    assert len(conflicts(*pair)) == 1


@pytest.mark.parametrize(
    "name",
    [
        "karpenter/default_nodepool.yaml",  # consolidation is off, and the budget of all nodes holds for drift
        "ray-serve/rayservice.autoscaling.yaml",  # 5 s and 2 s, of a test
        "torchrun-elastic/fault_tol_cfg_sections.yaml",  # sections of 20 s, 10 s and 30 s: how long they take is open
        "deployment-probes/gie-vllm-gpu-deployment.yaml",  # liveness waits five times as long as readiness
        "deployment-probes/metrics-server-deployment.yaml",  # two probes that ask different things
        "istio/virtual-service-recommendation-v2_retry.yml",  # tries of 2 s without a limit around them
    ],
)
def test_what_looks_odd_and_is_consistent_is_silent(name: str) -> None:
    assert not conflicts(name)
