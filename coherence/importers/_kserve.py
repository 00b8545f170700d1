"""Pods of the objects of KServe: several workloads in one object, each with a specification of its pods.

SOURCE: KServe API, serving.kserve.io.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

SPELLING = pods.SPELLING


def add_llm(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods of each part of a service that says how they are."""
    spec = manifest.spec
    spec.use("model", "baseRefs")
    for view, suffix in ((spec, ""), (spec.table("prefill"), "prefill")):
        copies = view.whole("replicas") if view is not None else None
        for key, word in (("template", ""), ("worker", "worker")):
            pod = view.table(key) if view is not None else None
            if pod is not None:
                name = named(manifest, " ".join(filter(None, (suffix, word))))
                pods.add_workload(manifest, sketch, name, pod, copies=copies, labels={})
    scheduler = spec.inner("router", "scheduler", "template")
    if scheduler is not None:
        pods.add_workload(manifest, sketch, named(manifest, "scheduler"), scheduler, copies=None, labels={})


def add_runtime(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods that a server of models has, and the time that it has to load one."""
    spec = manifest.spec
    spec.use(
        "supportedModelFormats", "protocolVersions", "storageHelper", "disabled", "grpcEndpoint", "grpcDataEndpoint"
    )
    spec.use("httpDataEndpoint", "hostIPC", "nodeSelector", "tolerations", "affinity")
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
        adapter.use("serverType", "runtimeManagementPort", "memBufferBytes", "env")
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


def named(manifest: Manifest, part: str) -> Scalar:
    """Returns the name of one part of an object."""
    return respelled(manifest.name, f"{manifest.name.text} {part}".strip())


def model_container(view: FieldView) -> FieldView | None:
    """Returns the container that a model server is: under `model`, or under the name of its framework."""
    frameworks = ("model", "sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx", "huggingface", "pmml",
                  "lightgbm", "paddle")  # fmt: skip
    return next((container for key in frameworks if (container := view.table(key)) is not None), None)
