"""Queue of Volcano: capability, shares that are listed, hostile values."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from tests.importers.kueue_manifests import not_modelled, read
from tests.importers.volcano_manifests import job, queue


@pytest.mark.parametrize(
    "key", ["weight: 3", "reclaimable: false", "deserved: {cpu: 2}", "guarantee: {resource: {cpu: 1}}"]
)
def test_what_a_share_of_all_nodes_means_is_listed(key: str) -> None:
    assert f"spec.{key.partition(':')[0]} (" in not_modelled(queue(f"capability: {{cpu: 5}}, {key}"))


@pytest.mark.parametrize("capability", ["{cpu: many}", "[1]", "{cpu: [1]}"])
def test_a_capability_is_a_quantity(capability: str) -> None:
    with pytest.raises(InputError, match=r"queues\.yaml:4"):
        read(queue(f"capability: {capability}"))


def test_a_queue_of_another_product_is_none_of_volcano() -> None:
    text = queue().replace("scheduling.volcano.sh/v1beta1", "rabbitmq.com/v1beta1") + job("train", (4, 1))
    assert "this kind is not modelled" in not_modelled(text)
    assert not read(text).jobs
