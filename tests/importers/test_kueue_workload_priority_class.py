"""WorkloadPriorityClass: the priority of the jobs that name it."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from tests.importers.kueue_manifests import job, queue, read

CLASS = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {{name: high}}\n{value}\n---\n"


def test_a_job_has_the_priority_of_its_class() -> None:
    labels = ", kueue.x-k8s.io/priority-class: high"
    design = read(CLASS.format(value="value: 70") + queue("a") + job("train", "a", 2, labels=labels))
    priority = design.jobs["train_job"].priority
    assert priority is not None
    assert str(priority) == "70"
    assert priority.place.line == 4


def test_a_class_without_a_value_is_refused() -> None:
    with pytest.raises(InputError, match="value is missing"):
        read(CLASS.format(value="description: none"))
