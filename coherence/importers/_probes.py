"""Startup, liveness and readiness probes as timers.

Without a startup probe all run from the start of the container, and a liveness probe must leave the load its
time.  With one the others begin when the load has ended; their initialDelaySeconds, counted from the start of
the container, then says nothing more.  Where both ask the same, an overload is a second event that starts them:
readiness must take the pod out before liveness restarts it.

SOURCE: Kubernetes documentation, Configure Liveness, Readiness and Startup Probes.  Zero is the default of a
field, as the API server fills it in.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

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
                put, then = _timer(probe, container.place(key), part, sketch), f"{verb} {thing}"
                gated, load = "startupProbe" in container and short != "startup", f"{thing}.load{suffix}"
                start = f"{load} {'ends' if gated else 'starts'}"
                unless = "" if short == "readiness" else f"{load} ends"  # it ends nothing
                first = _first(probe, gated=gated)
                name = put(f"{thing}{suffix}_{short}", start=start, first=first, unless=unless, then=then)
                if key in LASTING and same:
                    put(f"{name}_overloaded", start=f"{thing} overloaded", then=then)


def _ask_the_same(container: FieldView, sketch: Sketch) -> bool:
    """Returns whether readiness and liveness ask the same: under overload both begin to fail at one moment."""
    sights = [_sees(probe, sketch) for key in LASTING if (probe := container.table(key)) is not None]
    return (
        len(sights) == len(LASTING)
        and sights[0] is not None
        and sights[1] is not None
        and sights[0].text == sights[1].text
    )


def _first(probe: FieldView, *, gated: bool) -> Scalar | None:
    """Returns how long after the start the first question is asked."""
    if gated:
        probe.remark("initialDelaySeconds", GATED)
    return None if gated else probe.seconds("initialDelaySeconds")


def _timer(probe: FieldView, place: Place, part: str, sketch: Sketch) -> Callable[..., str]:
    """Returns what adds a timer with the numbers of one probe."""
    return functools.partial(
        sketch.put_timer,
        place=place,
        uses=part,
        every=probe.seconds("periodSeconds", zero_is_absent=True),
        misses=probe.positive("failureThreshold"),
        reply_within=probe.seconds("timeoutSeconds", zero_is_absent=True),
        sees=_sees(probe, sketch) or f"what {probe.path} does not say",
    )


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
