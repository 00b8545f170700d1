"""The scheduler of Volcano: whether pods of a gang start together."""

from __future__ import annotations

import pytest

from coherence import importers
from tests.importers.kueue_manifests import not_modelled, read
from tests.importers.volcano_manifests import configuration, job, queue
from tests.paths import DATA

REAL = DATA / "manifests/volcano/volcano-gang-scheduler-config.yaml"
GANG_OFF = "gang\n        enableJobReady: false"


@pytest.mark.parametrize(("plugins", "key"), [(("gang",), "gang"), (("drf",), "barrier"), ((GANG_OFF,), "barrier")])
def test_pods_start_together_where_the_scheduler_says_so(plugins: tuple[str, ...], key: str) -> None:
    text = queue() + job("train", (4, 1)) + configuration(*plugins)
    assert key in read(text).jobs["train_job"].constants


def test_who_takes_from_whom_is_listed() -> None:
    text = configuration("gang", actions="enqueue, allocate, preempt, reclaim")
    assert "shares of all nodes" in not_modelled(text)


def test_an_untouched_configuration_starts_gangs_together() -> None:
    sources = {"a.yaml": queue() + job("train", (4, 1)), str(REAL): REAL.read_text()}
    design = importers.design_from_sources(sources)
    assert "gang" in design.jobs["train_job"].constants


def test_another_file_with_tiers_is_no_scheduler() -> None:
    text = configuration("gang").replace("actions:", "levels:")
    assert "VolcanoScheduler" not in not_modelled(text)
