"""What an autoscaler without metrics watches, against the defaults of the API, manifest by manifest.

SOURCE: Kubernetes 1.23 to 1.35, pkg/apis/autoscaling/v2/defaults.go: SetDefaults_HorizontalPodAutoscaler (one replica
at least; without metrics the CPU at DefaultCPUUtilization, 80 %); v1 says it by targetCPUUtilizationPercentage.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from coherence import importers
from coherence.language.schema_kinds import Quantity
from tests.draws import source, trace_counts
from tests.models.test_kubernetes_hpa import Autoscaler, Rules, replayed


@dataclass(frozen=True)
class Spec:
    """A manifest: its version, its least replicas and its target for the CPU, as written; None: left out."""

    version: int
    least: int | None
    percent: int | None

    def defaulted(self) -> tuple[int, int]:
        """Returns the least replicas and the percent of the CPU that the API server stores."""
        return 1 if self.least is None else self.least, 80 if self.percent is None else self.percent

    def manifest(self, most: int) -> str:
        lines = [f"apiVersion: autoscaling/v{self.version}", "kind: HorizontalPodAutoscaler", "metadata: {name: web}"]
        lines += [
            "spec:",
            "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}",
            f"  maxReplicas: {most}",
        ]
        lines += [f"  minReplicas: {self.least}"] if self.least is not None else []
        if self.percent is not None and self.version == 1:
            lines.append(f"  targetCPUUtilizationPercentage: {self.percent}")
        elif self.percent is not None:
            target = f"{{type: Utilization, averageUtilization: {self.percent}}}"
            lines.append(f"  metrics: [{{type: Resource, resource: {{name: cpu, target: {target}}}}}]")
        return "\n".join(lines) + "\n"


def watched(spec: Spec, most: int) -> tuple[int, int]:
    """Returns the least replicas and the percent of the imported design."""
    loop = importers.design_from_sources({"hpa.yaml": spec.manifest(most)}).loops["web_hpa"]
    assert loop.target is not None
    assert loop.actuation is not None
    bounds, setpoint = loop.actuation.bounds, loop.target.setpoint
    assert isinstance(setpoint, Quantity)
    assert str(loop.target.signal) == "web.cpu"
    return int(bounds[0].low), round(100 * setpoint.low)  # type: ignore[union-attr]


@pytest.mark.slow
@trace_counts(100, parts=50, of=("kubernetes_hpa_default_metric",))
def test_the_imported_loop_is_the_one_that_the_api_server_stores_and_acts_by_it(traces: int) -> None:
    rng = source(111)
    for _ in range(traces):
        spec = Spec(rng.choice((1, 2)), rng.choice((None, rng.randint(1, 5))), rng.choice((None, rng.randint(1, 99))))
        most = rng.randint(5, 30)
        least, percent = watched(spec, most)
        assert (least, percent) == spec.defaulted(), spec
        hpa = Autoscaler(least, most, percent, Rules(0, [("pods", 4, 15), ("percent", 100, 15)]), Rules(300, []))
        replayed(hpa, [(least, rng.randint(0, 200)), (None, rng.randint(0, 200)), (None, rng.randint(0, 200))])


@pytest.mark.parametrize(
    ("spec", "stored"),
    [
        (Spec(1, None, None), (1, 80)),
        (Spec(1, 3, None), (3, 80)),
        (Spec(1, None, 62), (1, 62)),
        (Spec(2, None, None), (1, 80)),
    ],
)
def test_defaults_by_hand(spec: Spec, stored: tuple[int, int]) -> None:
    assert spec.defaulted() == stored
    assert watched(spec, 5) == stored
