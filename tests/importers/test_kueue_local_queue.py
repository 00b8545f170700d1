"""LocalQueue: it is found in its own namespace, and one that is stopped lets nobody in."""

from __future__ import annotations

from tests.importers.kueue_manifests import job, not_modelled, queue, read


def test_a_queue_of_another_namespace_is_not_found() -> None:
    assert read(queue("a") + job("train", "a", 2)).jobs
    assert not read(queue("a").replace("namespace: team", "namespace: other") + job("train", "a", 2)).jobs


def test_a_queue_that_is_stopped_is_listed() -> None:
    text = queue("a").replace("{clusterQueue: a}", "{clusterQueue: a, stopPolicy: Hold}") + job("train", "a", 2)
    assert not read(text).jobs
    assert "jobs that wait here are not modelled" in not_modelled(text)
