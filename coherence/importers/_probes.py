"""Startup, liveness and readiness probes as timers.

Without a startup probe all run from the start of the container, and a liveness probe must leave the load its
time.  With one the others begin when the load has ended; their initialDelaySeconds, counted from the start of
the container, then says nothing more.  Where both ask the same, an overload is a second event that starts them:
readiness must take the pod out before liveness restarts it.

SOURCE: Kubernetes documentation, Configure Liveness, Readiness and Startup Probes.  Zero is the default of a
field, as the API server fills it in.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base import units
from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView
from coherence.importers._names import sanitised
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Node, Scalar, Table

PROBES = (
    ("startupProbe", "startup", "startup_probe", "restart"),
    ("livenessProbe", "liveness", "liveness_probe", "restart"),
    ("readinessProbe", "readiness", "readiness_probe", "unlist"),
)
LASTING = ("livenessProbe", "readinessProbe")  # those that run as long as the container does
HOW = ("httpGet", "tcpSocket", "grpc", "exec")
GATED = "counts from the start of the container, before the startup probe has ended"


def probes(containers: list[FieldView], thing: str, sketch: Sketch) -> None:
    """Adds the timers of every container that has probes."""
    labels = {container.path: container.scalar("name") for container in containers}
    probed = [container for container in containers if any(key in container for key, *_ in PROBES)]
    for container in probed:
        label = labels[container.path]
        suffix = "" if len(probed) == 1 else f"_{sanitised(label.text if label else '')}"
        same = _ask_the_same(container, sketch)
        for key, short, part, verb in PROBES:
            probe = container.table(key)
            if probe is not None:
                gated = "startupProbe" in container and short != "startup"
                place, name = container.place(key), sketch.names.fresh(f"{thing}{suffix}_{short}")
                values = {
                    "uses": Scalar(part, place),
                    **_timer(probe, place, f"{thing}.load{suffix}", sketch, gated=gated),
                    "then": Scalar(f"{verb} {thing}", place),
                }
                if short == "readiness":
                    values["unless"] = None  # it ends nothing
                sketch.put("timers", name, place, values)
                if key in LASTING and same:
                    overloaded = {**values, "from": Scalar(f"{thing} overloaded", place), "first": None, "unless": None}
                    sketch.put("timers", sketch.names.fresh(f"{name}_overloaded"), place, overloaded)


def _ask_the_same(container: FieldView, sketch: Sketch) -> bool:
    """Returns whether readiness and liveness ask the same: under overload both begin to fail at one moment."""
    sights = [_sees(probe, sketch) for key in LASTING if (probe := container.table(key)) is not None]
    return (
        len(sights) == len(LASTING)
        and sights[0] is not None
        and sights[1] is not None
        and sights[0].text == sights[1].text
    )


def _timer(probe: FieldView, place: Place, load: str, sketch: Sketch, *, gated: bool) -> dict[str, Node | None]:
    """Returns the numbers of one probe, and the events between which it runs."""
    if gated:
        probe.remark("initialDelaySeconds", GATED)
    return {
        "from": Scalar(f"{load} {'ends' if gated else 'starts'}", place),
        "first": None if gated else probe.seconds("initialDelaySeconds"),
        "every": probe.seconds("periodSeconds", zero_is_absent=True),
        "misses": probe.positive("failureThreshold"),
        "reply_within": probe.seconds("timeoutSeconds", zero_is_absent=True),
        "unless": Scalar(f"{load} ends", place),
        "sees": _sees(probe, sketch),
    }


def _sees(probe: FieldView, sketch: Sketch) -> Scalar | None:
    """Returns what the probe asks, in one line: two probes that ask the same see the same.

    Values of headers, query strings and arguments of commands may be secrets: each has a name instead.
    """
    key = next((key for key in HOW if key in probe), None)
    node = probe.node.get(key) if key else None
    if key is None or not isinstance(node, Table):
        return None
    probe.use(key)
    return Scalar(units.shorten(" ".join([key, *_leaves(node, sketch)]), 200), node.place)


def _leaves(node: Node | None, sketch: Sketch, key: str = "") -> Iterator[str]:
    if isinstance(node, Scalar):
        yield _safe(node.text, key, sketch)
    elif isinstance(node, Items):
        for index, child in enumerate(node):
            yield from _leaves(child, sketch, f"{key}[{min(index, 1)}]" if key == "command" else key)
    elif isinstance(node, Table):
        for inner in sorted(node.entries):
            yield from _leaves(node.entries[inner], sketch, inner)


def _safe(text: str, key: str, sketch: Sketch) -> str:
    if key in ("value", "command[1]"):  # of a header; an argument
        return sketch.hidden(text)
    if key == "path" and "?" in text:
        path, _, query = text.partition("?")
        return f"{path}?{sketch.hidden(query)}"
    return sketch.concealed(text)
