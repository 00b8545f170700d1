"""What pods of jobs request: containers together, or the one that prepares them."""

from __future__ import annotations

import pytest

from coherence.language.design import needed
from tests.importers.kueue_manifests import job, queue, read

CONTAINERS = "containers: [{name: work, resources: {requests: {cpu: 1}}}]"


@pytest.mark.parametrize(
    ("pod", "cpu"),
    [
        ("containers: [{resources: {requests: {cpu: 1}}}, {resources: {requests: {cpu: 500m}}}]", "3"),
        ("containers: [{resources: {limits: {cpu: 2}}}]", "4"),  # a limit stands for the request
        ("containers: [{resources: {requests: {cpu: 1}, limits: {cpu: 2}}}]", "2"),
        ("initContainers: [{resources: {requests: {cpu: 3}}}], " + CONTAINERS, "6"),
        ("initContainers: [{resources: {requests: {cpu: 500m}}}], " + CONTAINERS, "2"),
        ("initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}], " + CONTAINERS, "4"),
    ],
)
def test_two_pods_of_a_job_need_what_each_requests(pod: str, cpu: str) -> None:
    text = queue("a", more="") + job("train", "a", 2).replace(CONTAINERS, pod)
    assert {key: str(need) for key, need in needed(read(text).jobs["train_job"]).items()} == {"cpu_of_a": cpu}


def test_pods_count_where_the_queue_has_a_quota_of_pods() -> None:
    quota = "nominalQuota: 9}, {name: pods, nominalQuota: 5"
    needs = needed(read(queue("a", quota, more="") + job("train", "a", 2)).jobs["train_job"])
    assert {key: str(need) for key, need in needs.items()} == {"cpu_of_a": "2", "pods_of_a": "2"}


def test_a_pod_holds_its_room_for_its_grace() -> None:
    leaves = read(queue("a") + job("train", "a", 2)).jobs["train_job"].constants["leaves_after"]
    assert str(leaves) == "0 s .. 30 s"
