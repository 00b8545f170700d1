"""ProductionStack: values of the Helm chart of the vLLM production stack, as the objects that the chart makes of them.

A model is a Deployment with the probes and the strategy of the engines, an autoscaler where `keda` is enabled and a
budget where `pdb` is; the router is a Deployment with its own.  What is not written is the default of the chart.  The
name of the release is not in the values: objects are named after the file.

SOURCE: vllm-project/production-stack, helm/values.yaml and helm/templates (chart 0.1.12): progressDeadlineSeconds 1200,
maxSurge 100%, maxUnavailable 0; startup probe 15 s + 60 x 10 s, liveness and readiness 15 s + 3 x 10 s and 3 x 5 s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._objects import Values, deployment, labels_of, object_of, taken
from coherence.importers._probes import HOW
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch, entry, listed
from coherence.language.document import Items, Node, Scalar, Table

KIND = "ProductionStack"
VARIANTS = True
LOCAL_NAMES = True
ENGINES, ROUTER = "servingEngineSpec", "routerSpec"
DEADLINE = "1200"  # s, of an update
STRATEGY = {"maxSurge": "100%", "maxUnavailable": "0"}
PROBE = {"initialDelaySeconds": "15", "periodSeconds": "10", "failureThreshold": "3"}
PROBES: Mapping[str, Mapping[str, str]] = {
    "startupProbe": {**PROBE, "failureThreshold": "60"},
    "livenessProbe": PROBE,
    "readinessProbe": {**PROBE, "periodSeconds": "5"},
}
ADDRESS = {"path": "/health", "port": "8000"}
QUERY = "vllm:num_requests_waiting"
FLAGS = {
    "maxNumSeqs": "--max-num-seqs", "maxModelLen": "--max-model-len", "tensorParallelSize": "--tensor-parallel-size",
    "gpuMemoryUtilization": "--gpu-memory-utilization",
}  # fmt: skip
WIRING = (
    "name", "repository", "tag", "modelURL", "hf_token", "labels", "podLabels", "env", "chatTemplate", "vllmApiKey",
    "runtimeClassName", "imagePullSecret", "annotations", "podAnnotations", "serviceAccountName", "storageClass",
    "chatTemplateConfigMap", "pvcStorage", "pvcAccessMode", "modelRevision", "servicePort", "containerPort",
)  # fmt: skip


def recognises(root: Table) -> bool:
    """Returns whether a document holds values of the chart: its engines with a list of models, or its router."""
    engines, router = root.get(ENGINES), root.get(ROUTER)
    has_models = isinstance(engines, Table) and ("modelSpec" in engines or "enableEngine" in engines)
    return has_models or (isinstance(router, Table) and ("routingLogic" in router or "enableRouter" in router))


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Lists what stands in the values and is no object."""
    del sketch
    engines = manifest.top.table(ENGINES)
    for model in engines.tables("modelSpec") if engines else ():
        model.remark("raySpec", "models on a Ray cluster are not modelled")
        model.remark("lmcacheConfig", "the cache beside the engine is not modelled")


def states(manifest: Manifest) -> Iterator[Node]:
    """Yields the objects that the chart makes."""
    engines, router = manifest.top.table(ENGINES), manifest.top.table(ROUTER)
    models = engines.tables("modelSpec") if engines is not None and not _is(engines, "enableEngine", "false") else []
    for model in models:
        ray = model.table("raySpec")
        if engines is not None and not _is(model, "enabled", "false") and not (ray and _is(ray, "enabled", "true")):
            yield from _engine(model, engines)
    if router is not None and not _is(router, "enableRouter", "false"):
        yield from _router(router)


def _is(view: FieldView, key: str, word: str) -> bool:
    """Returns whether a switch is written so."""
    stated = view.scalar(key)
    return stated is not None and stated.text == word


def _engine(model: FieldView, engines: FieldView) -> Iterator[Node]:
    """Yields the Deployment of a model, its autoscaler and its budget."""
    name = model.required("name")
    if name is None:
        return
    model.pass_over(*WIRING)
    keda, budget = model.table("keda"), model.table("pdb")
    scaled = keda is not None and _is(keda, "enabled", "true")
    target = respelled(name, f"{model.manifest.name.text} {name.text}")
    container: dict[str, Node | None] = {
        "name": respelled(name, "vllm"),
        "resources": _resources(model),
        "command": _command(model, name),
    }
    copies = _copies(model, is_scaled=scaled)
    yield _deployment(target, {**container, **_probes(engines)}, copies, engines)
    if keda is not None and scaled:
        triggers = taken(keda, "triggers")
        if isinstance(triggers, Table):  # as the values of the chart write it
            triggers = listed([triggers], triggers.place)
        keys = ("minReplicaCount", "maxReplicaCount", "pollingInterval", "cooldownPeriod", "idleReplicaCount",
                "initialCooldownPeriod", "fallback", "advanced")  # fmt: skip
        spec: dict[str, Node | None] = {
            "scaleTargetRef": entry(name.place, {"name": target}),
            **{key: taken(keda, key) for key in keys},
            "triggers": triggers or _waiting(name),
        }
        yield object_of("keda.sh/v1alpha1", "ScaledObject", target, spec)
    if budget is not None and _is(budget, "enabled", "true"):
        yield _budget(budget, target)


def _waiting(name: Scalar) -> Items:
    """Returns the trigger of the chart where none is written."""
    query = f'{QUERY}{{model="{name.text}"}}'
    metadata: dict[str, Node | None] = {"query": respelled(name, query), "threshold": respelled(name, "5")}
    trigger: dict[str, Node | None] = {"type": respelled(name, "prometheus"), "metadata": entry(name.place, metadata)}
    return listed([entry(name.place, trigger)], name.place)


def _router(router: FieldView) -> Iterator[Node]:
    """Yields the Deployment of the router, its autoscaler and its budget."""
    name = Scalar(f"{router.manifest.name.text} router", router.node.place)
    scaler, budget = router.table("autoscaling"), router.table("pdb")
    scaled = scaler is not None and _is(scaler, "enabled", "true")
    router.pass_over(*WIRING, "imagePullPolicy", "routingLogic", "sessionKey", "serviceType", "serviceDiscovery")
    container: dict[str, Node | None] = {
        "name": respelled(name, "router"),
        "resources": taken(router, "resources"),
        "args": taken(router, "extraArgs"),
        **{key: _probe(probe) for key in PROBES if (probe := router.table(key)) is not None},
    }  # fmt: skip
    yield _deployment(name, container, _copies(router, is_scaled=scaled), router)
    if scaler is not None and scaled:
        target: dict[str, Node | None] = {
            "apiVersion": respelled(name, "apps/v1"),
            "kind": respelled(name, "Deployment"),
            "name": name,
        }
        keys = ("minReplicas", "maxReplicas", "targetCPUUtilizationPercentage")
        spec: dict[str, Node | None] = {
            "scaleTargetRef": entry(name.place, target),
            **{key: taken(scaler, key) for key in keys},
        }
        yield object_of("autoscaling/v1", "HorizontalPodAutoscaler", name, spec)
    if budget is not None and _is(budget, "enabled", "true"):
        yield _budget(budget, name)


def _copies(view: FieldView, *, is_scaled: bool) -> Node | None:
    """Returns how many replicas the chart writes: none where an autoscaler chooses."""
    if is_scaled:
        view.remark("replicaCount", "the autoscaler chooses how many")
        return None
    return taken(view, "replicaCount")


def _deployment(name: Scalar, container: Values, copies: Node | None, view: FieldView) -> Table:
    deadline = respelled(name, DEADLINE)
    return deployment(name, container, replicas=copies, strategy=_strategy(view), progressDeadlineSeconds=deadline)


def _budget(budget: FieldView, name: Scalar) -> Table:
    """Returns the budget: the pods that may be missing count before those that must stay, of which the default is 0."""
    most, least = taken(budget, "maxUnavailable"), taken(budget, "minAvailable")
    spec: dict[str, Node | None] = {
        "maxUnavailable": most,
        "minAvailable": (least or respelled(name, "0")) if most is None else None,
        "selector": entry(name.place, {"matchLabels": labels_of(name)}),
    }
    return object_of("policy/v1", "PodDisruptionBudget", name, spec)


def _strategy(view: FieldView) -> Node:
    """Returns the strategy that is written, else that of the chart."""
    stated = taken(view, "strategy")
    if isinstance(stated, Table) and stated.entries:
        return stated
    place = view.node.place
    update = {key: Scalar(text, place) for key, text in STRATEGY.items()}
    return entry(place, {"rollingUpdate": entry(place, update)})


def _probes(engines: FieldView) -> dict[str, Node | None]:
    """Returns the probes of the engines; those that the values say nothing of are those of the chart."""
    stated = {key: engines.table(key) for key in PROBES}
    empty = Table({}, {}, engines.node.place)
    return {
        key: _probe(view or FieldView(empty, engines.at(key), engines.manifest), PROBES[key])
        for key, view in stated.items()
    }


def _probe(view: FieldView, defaults: Mapping[str, str] = PROBE) -> Table:
    """Returns a probe with the numbers and the address that the chart fills in."""
    place = view.node.place
    values: dict[str, Node | None] = {key: taken(view, key) or Scalar(text, place) for key, text in defaults.items()}
    ways: dict[str, Node | None] = {key: taken(view, key) for key in (*HOW, "timeoutSeconds", "successThreshold")}
    if not any(ways[key] for key in HOW):
        ways["httpGet"] = entry(place, {key: Scalar(text, place) for key, text in ADDRESS.items()})
    return entry(place, {**values, **ways})


def _resources(model: FieldView) -> Table:
    """Returns what one replica requests: as it is written, else from the keys for each resource."""
    whole = taken(model, "resources")
    kind = model.scalar("requestGPUType")
    requests: dict[str, Node | None] = {
        "cpu": taken(model, "requestCPU"), "memory": taken(model, "requestMemory"),
        kind.text if kind else "nvidia.com/gpu": taken(model, "requestGPU"),
    }  # fmt: skip
    if isinstance(whole, Table) and whole.entries:
        return whole
    model.pass_over("limitCPU", "limitMemory")
    return entry(model.node.place, {"requests": entry(model.node.place, requests)})


def _command(model: FieldView, name: Scalar) -> Items:
    """Returns the command of the server with the flags of its configuration."""
    config = model.table("vllmConfig")
    words: list[Node] = [respelled(name, "vllm"), respelled(name, "serve")]
    for key, flag in FLAGS.items() if config else ():
        stated = config.scalar(key) if config else None
        if stated is not None:
            words += [respelled(stated, flag), stated]
    more = taken(config, "extraArgs") if config else None
    return listed([*words, *(more if isinstance(more, Items) else ())], name.place)
