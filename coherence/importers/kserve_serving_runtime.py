"""ServingRuntime of KServe: the pods of a server of models, with the time that it has to load one.

One of a namespace; a ClusterServingRuntime is one of all namespaces.

SOURCE: KServe API, serving.kserve.io/v1alpha1 ServingRuntimeSpec: containers, builtInAdapter.modelLoadingTimeoutMillis.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._kserve import named
from coherence.importers._kubernetes import Manifest
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KINDS = ("ServingRuntime", "ClusterServingRuntime")
GROUPS = ("serving.kserve.io",)
SPELLING = pods.SPELLING


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods that a server of models has, and the time that it has to load one."""
    spec = manifest.spec
    spec.pass_over(
        "supportedModelFormats", "protocolVersions", "storageHelper", "disabled", "grpcEndpoint", "grpcDataEndpoint"
    )
    spec.pass_over("httpDataEndpoint", "hostIPC")
    spec.remark("multiModel", "models that share a server are not modelled")
    name = named(manifest, "runtime")
    thing = pods.add_workload(manifest, sketch, name, spec, copies=spec.whole("replicas"), labels={})
    worker, adapter = spec.table("workerSpec"), spec.table("builtInAdapter")
    if worker is not None:
        worker.remark("tensorParallelSize", "how many accelerators one replica needs is not modelled")
        worker.remark("pipelineParallelSize", "how many accelerators one replica needs is not modelled")
        pods.add_workload(manifest, sketch, named(manifest, "runtime worker"), worker, copies=None, labels={})
    limit = adapter.positive("modelLoadingTimeoutMillis") if adapter is not None else None
    if adapter is not None:
        adapter.pass_over("serverType", "runtimeManagementPort", "memBufferBytes", "env")
    if limit is not None:
        _loading(limit, thing, sketch)


def _loading(limit: Scalar, thing: str, sketch: Sketch) -> None:
    after = respelled(limit, f"{limit.text} ms")
    sketch.put_timer(
        f"{thing}_loading",
        limit.place,
        layer="runtime",
        objective="give up a model that does not load",
        during=f"{thing}.load",
        after=after,
        then=f"abort {thing}.load",
    )
