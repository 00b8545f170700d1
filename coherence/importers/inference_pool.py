"""InferencePool of the Gateway API: a name for the pods that it selects, so that a route to it is a call to them.

SOURCE: Gateway API Inference Extension, inference.networking.k8s.io/v1 InferencePoolSpec: selector, endpointPickerRef
(v1alpha2: extensionRef); a selector of v1alpha2 is a mapping of labels.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._selectors import selected
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Scalar

KIND = "InferencePool"
GROUPS = ("inference.networking.k8s.io", "inference.networking.x-k8s.io")
LABELS = "matchLabels"
PICKERS = ("endpointPickerRef", "extensionRef")


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Lists what happens while nobody picks an endpoint."""
    del sketch
    spec = manifest.spec
    spec.pass_over("targetPorts", "targetPortNumber", "appProtocol")
    for key in PICKERS:
        picker = spec.table(key)
        if picker is not None:
            picker.pass_over("name", "group", "kind", "port", "portNumber")
            picker.remark("failureMode", "what becomes of a request for which no endpoint is picked is not modelled")


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Sends the calls of routes to the pool to its pods, where they are those of one workload."""
    selector = _selector(manifest.spec)
    if selector is None:
        return
    pool = sketch.names.thing(manifest.name.text, manifest.namespace)
    things = {pods.thing for pods in selected(selector, sketch)}
    manifest.spec.use("selector")
    calls = [call for call in sketch.calls if isinstance(to := call.get("to"), Scalar) and to.text == pool]
    if len(things) != 1 or not calls:
        why = f"it finds the pods of {len(things)} workloads of these manifests, and {len(calls)} calls go to the pool"
        manifest.spec.remark("selector", why)
        return
    for call in calls:
        call.entries["to"] = Scalar(next(iter(things)), call.entries["to"].place)


def _selector(spec: FieldView) -> FieldView | None:
    """Returns the selector with its labels under their key."""
    stated = spec.table("selector")
    if stated is None or LABELS in stated:
        return stated
    return FieldView(entry(stated.node.place, {LABELS: stated.node}), stated.path, stated.manifest)
