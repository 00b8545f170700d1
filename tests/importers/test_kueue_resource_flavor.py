"""ResourceFlavor: labels are wiring; taints and topology decide beside the quota."""

from __future__ import annotations

import pytest

from tests.importers.kueue_manifests import job, not_modelled, queue, read

FLAVOR = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: any}}\nspec: {{{spec}}}\n---\n"


@pytest.mark.parametrize("spec", ["topologyName: racks", "nodeTaints: [{key: spot, effect: NoSchedule}]"])
def test_what_decides_beside_the_quota_keeps_jobs_out(spec: str) -> None:
    text = FLAVOR.format(spec=spec) + queue("a") + job("train", "a", 2)
    assert not read(text).jobs
    assert spec.partition(":")[0] in not_modelled(text)


def test_labels_of_nodes_are_wiring() -> None:
    text = FLAVOR.format(spec="nodeLabels: {zone: a}") + queue("a") + job("train", "a", 2)
    assert list(read(text).jobs) == ["train_job"]
