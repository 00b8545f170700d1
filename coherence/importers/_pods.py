"""Pods of a workload: what one holds, its probes as timers, the time it is given to stop, its labels.

How long a container loads and how long it drains are not in a manifest: `<name>.load` and `<name>.drain` are activities
whose time a question may ask for (`takes: {load: ...}`).  A preStop sleep lies inside the termination grace.

SOURCE: Kubernetes API, core/v1 PodSpec, Probe, Lifecycle; documentation, Configure Probes, Pod Lifecycle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from coherence.base.places import Place
from coherence.importers._flags import read_flags
from coherence.importers._kubernetes import FieldView, Manifest, texts, word
from coherence.importers._names import sanitised
from coherence.importers._probes import probes
from coherence.importers._programs import READERS
from coherence.importers._python_servers import DRAIN, forget_equal_drain
from coherence.importers._quantities import added, as_amount, respelled, value_of
from coherence.importers._sketch import Container, Pods, Sketch, default_scalar, entry
from coherence.importers._torch import training
from coherence.language.document import Items, Node, Scalar, Table

SPELLING = {
    "copies": "replicas",
    "first": "initialDelaySeconds",
    "every": "periodSeconds",
    "misses": "failureThreshold",
    "reply_within": "timeoutSeconds",
    "after": "terminationGracePeriodSeconds",
}
TAGS = {"gpu": " gpu"}
GRACE = "termination_grace"
BEFORE = "initContainers"
SLEEP = re.compile(r"(?:exec\s+)?(?:/usr)?(?:/bin/)?sleep\s+([0-9]{1,9})s?;?")


def add_pods(manifest: Manifest, sketch: Sketch, template: FieldView | None, *, copies: Scalar | None) -> str:
    """Adds the component of a workload with the probes and the grace of its pods, and returns its name."""
    pod = template.table("spec") if template else None
    return add_workload(manifest, sketch, manifest.name, pod, copies=copies, labels=labels_of(template))


def add_workload(
    manifest: Manifest, sketch: Sketch, name: Scalar, pod: FieldView | None, *, copies: Scalar | None,
    labels: Mapping[str, str], more: Sequence[FieldView] = (),
) -> str:  # fmt: skip
    """Adds the same of one of several workloads that an object is, from the specification of its pods.

    `more`: containers that stand elsewhere.
    """
    place = name.place
    thing = sketch.names.thing(name.text, manifest.namespace, manifest.kind)
    containers = [*(containers_of(pod) if pod else ()), *more]
    waits = [wait for wait in map(_sleep, containers) if wait is not None]
    longest = max(waits, key=value_of, default=None)  # they stop side by side
    values: dict[str, Node | None] = {
        "copies": copies,
        "needs": _needs(containers, place),
        "takes": entry(longest.place, {"pre_stop": longest}) if longest else None,
    }
    sketch.put("components", thing, place, values)
    sketch.add_pods(Pods(thing, manifest.namespace, labels, [*map(_container, containers)], pod))
    probes(containers, thing, sketch)
    for container in containers:
        read_flags(container, thing, READERS, sketch)
        training(container, thing, sketch)
    grace = pod.seconds("terminationGracePeriodSeconds") if pod else None
    if grace is not None or longest is not None or sketch.takes(thing, DRAIN):
        _grace(grace, longest, thing, sketch)
    return thing


def _container(view: FieldView) -> Container:
    """Returns a container with its requests and its own limits."""
    name = view.scalar("name")
    return Container(name.text if name else "", dict(requests_of(view)), view.inner("resources", "limits"))


def needs_scarce(template: FieldView | None) -> bool:
    """Returns whether a pod needs an accelerator or another extended resource."""
    pod = template.table("spec") if template else None
    containers = containers_of(pod) if pod else []
    return any("/" in key for container in containers for key, _ in requests_of(container))


def containers_of(pod: FieldView) -> list[FieldView]:
    """Returns the containers that run side by side: those of the pod, and sidecars, which start before them and stay.

    SOURCE: Kubernetes documentation, Sidecar Containers: initContainers with restartPolicy Always.
    """
    before = pod.node.get(BEFORE)
    has_sidecars = isinstance(before, Items) and any(map(_is_sidecar, before))
    return [
        *pod.tables("containers"),
        *(view for view in (pod.tables(BEFORE) if has_sidecars else ()) if _is_sidecar(view.node)),
    ]


def _is_sidecar(container: Node) -> bool:
    return isinstance(container, Table) and word(container, "restartPolicy") == "Always"


def labels_of(template: FieldView | None) -> dict[str, str]:
    """Returns the labels by which selectors find the pods."""
    labels = template.inner("metadata", "labels") if template else None
    return texts(labels.node if labels else None)


def _needs(containers: list[FieldView], place: Place) -> Node | None:
    """Returns what one member holds: the requests of its containers together; each stands where the first stands."""
    requests = [pair for container in containers for pair in requests_of(container)]
    names = {key: sanitised(key.rpartition("/")[2]) for key, _ in requests}
    resources = {name: key for key, name in names.items()}
    totals = added((names[key], request) for key, request in requests)
    texts = {
        name: respelled(total, as_amount(total, resources[name]).text + TAGS.get(name, ""))
        for name, total in totals.items()
    }
    return entry(place, texts) if texts else None


def specifications(owners: Iterable[FieldView]) -> list[FieldView]:
    """Returns what owners of pods say of them."""
    return [pod for owner in owners if (pod := owner.inner("template", "spec")) is not None]


def requests_of(container: FieldView) -> Iterator[tuple[str, Scalar]]:
    """Yields the requests of a container; a limit stands for the request that is not written."""
    resources = container.table("resources")
    tables = [resources.table(key) for key in ("requests", "limits")] if resources else []
    seen: set[str] = set()
    for table in (table for table in tables if table is not None):
        for key in (key for key in table.node.entries if key not in seen):
            seen.add(key)
            request = table.quantity(key)
            if request is not None:
                yield key, request


def _grace(grace: Scalar | None, sleep: Scalar | None, thing: str, sketch: Sketch) -> None:
    """From the order to end until the kill.  It waits for the drain, or for a sleep that leaves none."""
    after = grace or default_scalar(GRACE, "after")
    forget_equal_drain(thing, after, sketch)
    component = sketch.sections["components"].key_place(thing)
    place = grace.place if grace else sleep.place if sleep else component
    alone = sleep is not None and value_of(sleep) >= value_of(after)
    sketch.put_timer(
        f"{thing}_grace",
        place,
        uses=GRACE,
        start=f"{thing}.{'pre_stop' if sleep else 'drain'} starts",
        after=grace,
        unless=f"{thing}.{'pre_stop' if alone else 'drain'} ends",
        then=f"kill {thing}",
    )


def _sleep(container: FieldView) -> Scalar | None:
    """Returns the time of a preStop hook that only sleeps: `sleep: {seconds: 30}`, `sleep 30`, also in a shell."""
    hook = container.inner("lifecycle", "preStop")
    if hook is None:
        return None
    sleep, run = hook.table("sleep"), hook.table("exec")
    if sleep is not None:
        return sleep.seconds("seconds")
    words = run.node.get("command") if run else None
    leaves = [word for word in words if isinstance(word, Scalar)] if isinstance(words, Items) else []
    command = leaves[2:] if [leaf.text for leaf in leaves[1:2]] == ["-c"] else leaves
    match = SLEEP.fullmatch(" ".join(leaf.text for leaf in command).strip())
    if run is None or match is None:
        return None
    run.use("command")
    return respelled(command[-1], f"{int(match[1])} s")
