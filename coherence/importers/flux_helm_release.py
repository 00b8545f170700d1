"""HelmRelease of Flux: how long an install or an upgrade waits for what it made, and whether drift is undone.

The workloads of a release are those with its annotation; what its chart makes of its values is not known before it is
rendered.  An install that waits longer than its timeout has failed, and is taken back where `remediation` says so.

SOURCE: Flux helm-controller 1.6, docs/spec/v2/helmreleases.md: timeout 5m0s, disableWait false, driftDetection.mode
disabled, releaseName `[<target namespace>-]<name>`.  Helm documentation, helm install: meta.helm.sh/release-name.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch, Sync
from coherence.language.document import Scalar

KIND = "HelmRelease"
GROUPS = ("helm.toolkit.fluxcd.io",)
SPELLING = {"period": "interval", "after": "timeout"}
TIMEOUT = "5 min"
STEPS = ("install", "upgrade")
REPLICAS = "/spec/replicas"
WIRING = (
    "chart", "chartRef", "dependsOn", "kubeConfig", "storageNamespace", "targetNamespace", "releaseName",
    "commonMetadata", "maxHistory", "persistentClient",
)  # fmt: skip
CHART = "what the chart makes of it: render it first"
NOT_MODELLED = {
    "values": CHART,
    "valuesFrom": CHART,
    "postRenderers": CHART,
    "test": "tests of a release",
    "rollback": "how it is taken back",
    "uninstall": "how it is taken away",
}
OF_STEP = {
    "remediation": "how often it is tried again, and what is taken back: how often it fails is not known",
    "strategy": "how often it is tried again: how often it fails is not known",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds how long a release is waited for, and notes who writes its manifests."""
    spec = manifest.spec
    namespace, suspended = spec.scalar("targetNamespace"), spec.scalar("suspend")
    period = spec.duration("interval") if spec.required("interval") is not None else None
    release = spec.scalar("releaseName") or _release(manifest, namespace)
    spec.pass_over(*WIRING)
    spec.remark_all(NOT_MODELLED)
    if suspended is not None and suspended.text == "true":
        return
    where = namespace.text if namespace is not None else manifest.namespace
    thing = sketch.names.thing(release.text, where)
    sketch.mention(thing, manifest.name.place, f"release {release.text}")
    _waits(spec, thing, sketch)
    heals, ignored = _drift(spec)
    sketch.syncs.append(Sync(where, heals, period=period, ignored=ignored, release=release.text))


def _release(manifest: Manifest, namespace: Scalar | None) -> Scalar:
    prefix = f"{namespace.text}-" if namespace is not None else ""
    return respelled(manifest.name, f"{prefix}{manifest.name.text}")


def _waits(spec: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds a timer for each time that an install or an upgrade waits."""
    times: dict[str, tuple[str, Scalar]] = {}
    for step in STEPS:
        view = spec.table(step)
        waits = view.scalar("disableWait") if view is not None else None
        if view is not None:
            view.remark_all(OF_STEP)
        if waits is None or waits.text != "true":
            stated = (view.duration("timeout") if view is not None else None) or spec.duration("timeout")
            after = stated or Scalar(TIMEOUT, spec.node.place)
            times.setdefault(after.text, (step, after))
    for step, after in times.values():
        sketch.put_timer(
            f"{thing}_{step}",
            layer="orchestration",
            objective="give up a release that does not become ready",
            during=f"{thing}.load",
            per=step,
            after=after,
            then=f"fail {thing} {step}",
        )


def _drift(spec: FieldView) -> tuple[Scalar | None, tuple[tuple[str, str], ...]]:
    """Returns where it says that drift is corrected, and kind and name of workloads whose replicas are left alone."""
    drift = spec.table("driftDetection")
    if drift is None:
        return None, ()
    mode = drift.scalar("mode")
    ignored = tuple(pair for view in drift.tables("ignore") for pair in _ignored(view))
    return (mode if mode is not None and mode.text == "enabled" else None), ignored


def _ignored(view: FieldView) -> Iterator[tuple[str, str]]:
    """Yields kind and name (empty: any) of workloads whose replicas are not compared."""
    paths, target = view.scalars("paths"), view.table("target")
    kind, name = (target.scalar("kind"), target.scalar("name")) if target is not None else (None, None)
    if any(path.text in (REPLICAS, "", "/spec") for path in paths):
        yield kind.text if kind is not None else "", name.text if name is not None else ""
