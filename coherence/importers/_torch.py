"""Training with PyTorch in a pod: how long members wait to meet, for a collective, and for a beat of the watchdog.

A container that runs `torchrun` (also in a shell, or as `python -m torch.distributed.run`) waits for all members until
the rendezvous ends: `<name>.rendezvous`.  With accelerators one that saves lets the others wait in a collective:
`<name>.checkpoint`; what `init_process_group` is given stands in the program, so the default of the part holds, which
an overlay may replace.

SOURCE: PyTorch documentation, torchrun; torch.distributed.elastic.rendezvous: join_timeout 600 s of c10d and etcd-v2,
timeout 900 s of static; ProcessGroupNCCL Environment Variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from coherence.base import units
from coherence.importers._kubernetes import FieldView, word
from coherence.importers._quantities import amount, duration_text, integer, respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Scalar, Table

WATCHDOG, HEARTBEAT = "nccl_watchdog", "nccl_heartbeat"
MEETING = {"c10d": "join_timeout", "etcd-v2": "join_timeout", "static": "timeout"}
RENDEZVOUS = {"join_timeout": "torch_rendezvous", "timeout": "torch_static_rendezvous"}
BEAT, MONITORED = "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "TORCH_NCCL_ENABLE_MONITORING"
LATE = Fraction(2)  # s, by which both looks of the monitor may be late
RUNS = re.compile(r"(?:^|[\s/])(?:torchrun|torch\.distributed\.run)(?:\s|$)")
OTHERS = {
    "max_restarts": "after so many restarts it is given up; how often its members fail is not known",
    "monitor_interval": "how often members are looked at; how often they fail is not known",
}
READ = ("rdzv_backend", "rdzv_conf", "nnodes")
ACCELERATOR = "/gpu"


def training(container: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the timers of a container that trains."""
    flags = _flags(container)
    if flags is None:
        return
    container.pass_over("command", "args")
    _meeting(flags, container, thing, sketch)
    for key in flags:
        if key not in READ:
            words = f"{container.manifest.title}: --{units.shorten(key)} ({OTHERS.get(key, 'not modelled')})"
            container.manifest.remarks.append((flags[key].place, words))
    if any(ACCELERATOR in key for resources in _resources(container) for key in resources.entries):
        _collective(container, thing, sketch)


def _resources(container: FieldView) -> Iterator[Table]:
    view = container.node.get("resources")
    for key in ("requests", "limits") if isinstance(view, Table) else ():
        table = view.get(key) if isinstance(view, Table) else None
        if isinstance(table, Table):
            yield table


def _flags(container: FieldView) -> Mapping[str, Scalar] | None:
    """Returns the flags of torchrun, by names with `_`; None where a container does not run it."""
    lists = [container.node.get(key) for key in ("command", "args")]
    stated = [it for words in lists if isinstance(words, Items) for it in words if isinstance(it, Scalar)]
    if not any(RUNS.search(it.text) for it in stated):
        return None
    plain = [respelled(it, text) for it in stated for text in it.text.replace("\\\n", " ").split()]
    flags: dict[str, Scalar] = {}
    last = ""
    for it in plain:
        name, equals, value = it.text.partition("=")
        if name.startswith("--"):
            last = name.removeprefix("--").replace("-", "_")
            flags[last] = respelled(it, value.strip("\"'"))
            last = "" if equals else last
        elif last:
            flags[last], last = respelled(it, it.text.strip("\"'")), ""
    return flags


def _meeting(flags: Mapping[str, Scalar], container: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds how long members wait for each other before they begin."""
    backend = flags.get("rdzv_backend")
    key = MEETING.get(backend.text if backend else "static", "")
    if not key or (backend is None and integer(flags.get("nnodes", Scalar("1", container.node.place))) == 1):
        return
    stated = flags.get("rdzv_conf")
    pairs = dict(pair.partition("=")[::2] for pair in stated.text.split(",")) if stated is not None else {}
    after = None
    if stated is not None and key in pairs:
        seconds = amount(pairs[key])
        if seconds is None:
            container.problem(stated.place, f"--rdzv-conf: {key} is no number of seconds", f"write `{key}=600`")
            return
        after = respelled(stated, duration_text(seconds))
    place = (after or backend or next(iter(flags.values()))).place
    sketch.put_timer(
        f"{thing}_rendezvous",
        place,
        uses=RENDEZVOUS[key],
        during=f"{thing}.rendezvous",
        after=after,
        then=f"restart {thing}",
    )


def _collective(container: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the watchdog over a collective, and the monitor of the watchdog where the environment says its time."""
    place = container.node.place
    sketch.put_timer(f"{thing}_nccl", place, uses=WATCHDOG, during=f"{thing}.checkpoint", then=f"abort {thing}")
    beat, monitored = _environment(container, BEAT), _environment(container, MONITORED)
    seconds = amount(beat.text) if beat is not None else None
    if beat is None or seconds is None or (monitored is not None and monitored.text in ("0", "false")):
        return
    span = f"{duration_text(seconds)} .. {duration_text(2 * seconds + LATE)}"
    sketch.put_timer(
        f"{thing}_heartbeat",
        beat.place,
        uses=HEARTBEAT,
        start=f"{thing} hangs",
        after=respelled(beat, span),
        then=f"kill {thing}",
    )


def _environment(container: FieldView, name: str) -> Scalar | None:
    """Returns the value of a variable that stands in the manifest."""
    node = container.node.get("env")
    for number, entry in enumerate(node if isinstance(node, Items) else ()):
        value = entry.get("value") if isinstance(entry, Table) and word(entry, "name") == name else None
        if isinstance(value, Scalar):
            container.manifest.used.add(f"{container.at('env')}[{number}]")
            return value
    return None
