"""VLLMRuntime of the vLLM production stack: the Deployment and the ScaledObject that its operator makes of it.

The operator scales by the requests that run and by the tokens that are read and written, each divided by the replicas.

SOURCE: vllm-project/production-stack, operator/internal/controller/vllmruntime_controller.go: probes 120 s + 100 x
20 s, 10 s + 10 x 20 s; operator/api/v1alpha1/vllmruntime_types.go: defaults of autoscalingConfig.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._objects import deployment, object_of, taken, texts
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch, entry, listed
from coherence.language.document import Items, Node, Scalar

KIND = "VLLMRuntime"
GROUPS = ("production-stack.vllm.ai",)
OFTEN = {"periodSeconds": "20", "timeoutSeconds": "3"}
PROBES: Mapping[str, Mapping[str, str]] = {
    "startupProbe": {**OFTEN, "initialDelaySeconds": "120", "failureThreshold": "100"},
    "livenessProbe": {**OFTEN, "initialDelaySeconds": "10", "failureThreshold": "10"},
    "readinessProbe": {**OFTEN, "timeoutSeconds": "5", "initialDelaySeconds": "10", "failureThreshold": "10"},
}
FLAGS = {"maxNumSeqs": "--max-num-seqs", "maxModelLen": "--max-model-len"}
OF_CONFIG = {"tensorParallelSize": "--tensor-parallel-size", "gpuMemoryUtilization": "--gpu-memory-utilization"}
TRIGGERS = (
    ("requestsRunningThreshold", "5", 'sum(vllm:num_requests_running{{job="{0}"}})'),
    ("generationTokensThreshold", "100", 'sum(rate(vllm:generation_tokens_total{{job="{0}"}}[1m]))'),
    ("promptTokensThreshold", "100", 'sum(rate(vllm:prompt_tokens_total{{job="{0}"}}[1m]))'),
)
POLICIES = (("scaleUpPolicy", "scaleUp", "0"), ("scaleDownPolicy", "scaleDown", "300"))


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Lists what is no object."""
    del sketch
    for key in ("lmCacheConfig", "storageConfig"):
        manifest.spec.remark(key, "the cache beside the engine, and where models lie, are not modelled")


def states(manifest: Manifest) -> Iterator[Node]:
    """Yields the objects that the operator makes."""
    spec, name = manifest.spec, manifest.name
    config, scaling = spec.table("deploymentConfig"), spec.table("autoscalingConfig")
    enabled = scaling.scalar("enabled") if scaling is not None else None
    scaled = enabled is not None and enabled.text == "true"
    container: dict[str, Node | None] = {
        "name": respelled(name, "vllm"),
        "command": _command(spec, name),
        "resources": _resources(config, name),
        **{key: _probe(name, numbers) for key, numbers in PROBES.items()},
    }
    strategy = taken(config, "deploymentStrategy") if config is not None else None
    copies = taken(config, "replicas") if config is not None else None
    if config is not None:
        config.pass_over("image", "runtimeClass", "shmSize", "podAnnotations")
    yield deployment(
        name, container,
        replicas=None if scaled else copies,
        strategy=entry(name.place, {"type": strategy}) if strategy is not None else None,
    )  # fmt: skip
    if scaling is not None and scaled:
        yield _scaled(scaling, name)


def _probe(name: Scalar, numbers: Mapping[str, str]) -> Node:
    address = entry(name.place, texts(name, {"path": "/health", "port": "8000"}))
    return entry(name.place, {**texts(name, numbers), "httpGet": address})


def _command(spec: FieldView, name: Scalar) -> Items:
    """Returns the command of the server with the flags that the operator gives it."""
    words: list[Node] = [respelled(name, "vllm"), respelled(name, "serve")]
    for view, flags in ((spec.table("model"), FLAGS), (spec.table("vllmConfig"), OF_CONFIG)):
        for key, flag in flags.items() if view is not None else ():
            stated = view.scalar(key) if view is not None else None
            words += [respelled(stated, flag), stated] if stated is not None else []
        if view is not None:
            view.pass_over("modelURL", "dtype", "hfTokenSecret", "port", "v1", "env", "enableChunkedPrefill")
            view.pass_over(
                "chatTemplate", "enablePrefixCaching", "enableLoRA", "enableTool", "toolCallParser", "maxLoras"
            )
            more = taken(view, "extraArgs")
            words += list(more) if isinstance(more, Items) else []
    return listed(words, name.place)


def _resources(config: FieldView | None, name: Scalar) -> Node | None:
    stated = config.table("resources") if config is not None else None
    if stated is None:
        return None
    kind = stated.scalar("gpuType")
    requests = {
        "cpu": taken(stated, "cpu"),
        "memory": taken(stated, "memory"),
        kind.text if kind else "nvidia.com/gpu": taken(stated, "gpu"),
    }
    return entry(name.place, {"requests": entry(name.place, requests)})


def _scaled(scaling: FieldView, name: Scalar) -> Node:
    """Returns the ScaledObject with what the operator fills in."""
    place = name.place
    triggers, down = scaling.table("triggers"), scaling.table("scaleDownPolicy")
    if triggers is not None:
        triggers.pass_over("prometheusAddress")
    zero = taken(down, "scaleToZeroDelaySeconds") if down is not None else None
    behavior = {word: _policy(scaling.table(key), hold, name) for key, word, hold in POLICIES}
    config = entry(place, {"behavior": entry(place, behavior)})
    spec: dict[str, Node | None] = {
        "scaleTargetRef": entry(place, {**texts(name, {"apiVersion": "apps/v1", "kind": "Deployment"}), "name": name}),
        "minReplicaCount": taken(scaling, "minReplicas") or respelled(name, "1"),
        "maxReplicaCount": taken(scaling, "maxReplicas"),
        "pollingInterval": taken(scaling, "pollingInterval") or respelled(name, "15"),
        "cooldownPeriod": zero or respelled(name, "1800"),
        "advanced": entry(place, {"horizontalPodAutoscalerConfig": config}),
        "triggers": listed([_trigger(triggers, *trigger, name=name) for trigger in TRIGGERS], place),
    }
    return object_of("keda.sh/v1alpha1", "ScaledObject", name, spec)


def _policy(view: FieldView | None, hold: str, name: Scalar) -> Node:
    """Returns how the replicas may move one way: so many pods in each period."""
    window, value, period = (
        (taken(view, key) if view is not None else None) or respelled(name, text)
        for key, text in (("stabilizationWindowSeconds", hold), ("podValue", "1"), ("periodSeconds", "60"))
    )
    limit = entry(name.place, {"type": respelled(name, "Pods"), "value": value, "periodSeconds": period})
    return entry(name.place, {"stabilizationWindowSeconds": window, "policies": listed([limit], name.place)})


def _trigger(view: FieldView | None, key: str, default: str, query: str, *, name: Scalar) -> Node:
    threshold = (taken(view, key) if view is not None else None) or respelled(name, default)
    metadata = {"query": respelled(name, query.format(name.text)), "threshold": threshold}
    return entry(name.place, {"type": respelled(name, "prometheus"), "metadata": entry(name.place, metadata)})
