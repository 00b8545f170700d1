"""Job of Volcano: pods of its tasks, `minAvailable`, and what a Job of Kubernetes is instead."""

from __future__ import annotations

import pytest

from tests.importers.kueue_manifests import not_modelled, read
from tests.importers.volcano_manifests import job, queue


def test_each_task_has_its_pods() -> None:
    components = read(job("train", (1, 2), (4, 1))).components
    assert [str(components[f"train_t{i}"].copies) for i in range(2)] == ["1", "4"]


@pytest.mark.parametrize(("least", "gang"), [(None, "4"), (3, "3")])
def test_so_many_pods_start_together(least: int | None, gang: str) -> None:
    design = read(queue() + job("train", (4, 1), least=least))
    assert str(design.jobs["train_job"].constants["gang"]) == gang


def test_more_than_there_are_is_listed_as_refused() -> None:
    text = queue() + job("train", (4, 1), least=5)
    assert not read(text).jobs
    assert "all tasks have 4 pods: the API server refuses it" in not_modelled(text)


def test_a_job_of_kubernetes_is_another_one() -> None:
    text = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train}\nspec: {parallelism: 2}\n---\n" + job(
        "train", (4, 1)
    )
    assert set(read(text).components) >= {"train", "train_t0"}
