"""Kustomization: manifests that are written again at every interval undo an autoscaler each time."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.language.design import Loop
from tests.importers.test_argo_application import WORKLOAD


def loop(spec: str) -> Loop:
    head = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: shop, namespace: flux}\n"
    return importers.design_from_sources({"web.yaml": WORKLOAD, "k.yaml": f"{head}spec: {{{spec}}}\n"}).loops[
        "web_apply"
    ]


def written(spec: str) -> tuple[str, str]:
    """Returns how and how often the stated replicas are written."""
    writer = loop(spec)
    assert writer.actuation is not None
    period = writer.timescale.period if writer.timescale is not None else None
    return str(getattr(writer.actuation.mode, "text", "")), str(getattr(period, "text", ""))


@pytest.mark.parametrize(
    ("spec", "often"),
    [
        ("interval: 10m, targetNamespace: prod", ("always", "10 min")),
        ("interval: 1h", ("always", "60 min")),
        ("interval: 10m, targetNamespace: dev", ("on change", "")),
        ("interval: 10m, suspend: true", ("on change", "")),
    ],
)
def test_the_replicas_are_written_at_every_interval(spec: str, often: tuple[str, str]) -> None:
    assert written(spec) == often


def test_an_interval_must_be_there() -> None:
    with pytest.raises(InputError, match=r"spec.interval is missing"):
        loop("targetNamespace: prod")
