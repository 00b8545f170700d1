"""InferenceService of KServe: the pods of predictor, transformer and explainer, the time of a request, concurrency.

`timeout` ends a request, `containerConcurrency` is how many one replica works on at once (0: no limit).  What scales
the replicas between `minReplicas` and `maxReplicas` (Knative, or an autoscaler of pods) is listed.

SOURCE: KServe API, serving.kserve.io/v1beta1 ComponentExtensionSpec: minReplicas 1, timeout, containerConcurrency.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._kserve import model_container, named
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import integer, respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Scalar

KIND = "InferenceService"
GROUPS = ("serving.kserve.io",)
SPELLING = {**pods.SPELLING, "deadline": "timeout", "copies": "minReplicas"}
PARTS = ("predictor", "transformer", "explainer")
SCALING = "what scales the replicas is not modelled"


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods of each part, the calls to it and what one replica takes."""
    for part in PARTS:
        view = manifest.spec.table(part)
        if view is None:
            continue
        model = model_container(view)
        if model is not None:
            model.pass_over("modelFormat", "storageUri", "runtime", "protocolVersion", "storage")
        more = [model] if model is not None else []
        thing = pods.add_workload(
            manifest, sketch, named(manifest, part), view, copies=_copies(view), labels={}, more=more
        )  # fmt: skip
        view.remark_all(dict.fromkeys(("scaleTarget", "scaleMetric", "autoScaling"), SCALING))
        _requests(view, thing, sketch)


def _copies(view: FieldView) -> Scalar:
    """Returns the number of replicas, or its range."""
    low = view.whole("minReplicas") or Scalar("1", view.node.place)
    high = view.whole("maxReplicas")
    least, most = integer(low) or 0, integer(high) if high is not None else None
    return respelled(high, f"varies: {least} .. {most}") if high is not None and most and most > least else low


def _requests(view: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the time limit of requests, and how many one replica works on."""
    limit, most = view.seconds("timeout", zero_is_absent=True), view.positive("containerConcurrency")
    if limit is not None:
        ends = {"from": respelled(limit, "clients"), "to": respelled(limit, thing)}
        call = {**ends, "deadline": limit, "tries": respelled(limit, "1")}
        sketch.calls.append(entry(limit.place, call))
    if most is not None:
        sketch.put_limit(
            f"{thing}_concurrency", f"{thing}.ongoing", most, "wait", per="replica"
        )  # fmt: skip
