"""Collects the conditions of a recorded run that a prediction takes as given; recorded replicas are not among them.

Taken: when which command returned and what its manifest says; the autoscaler's bounds and target as the cluster shows
them; the nodes and their labels; and of each pod, by age since it got its node: when its container started, and what
metrics-server served for it.  Times are whole seconds since the first command that changes the cluster.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.simulate.logs.events import PodStart, read_starts
from coherence.simulate.logs.manifests import Behavior, DeploymentManifest, read_manifest
from coherence.simulate.logs.runs import RecordedCommand, RunFiles, labels, manifest, read_commands
from coherence.simulate.logs.series import PodReading, autoscaler, pods
from coherence.simulate.logs.spread import placeable
from coherence.simulate.logs.tables import read_table

POLLS = 2  # assumed: a new sample of a pod is there within so many polls (cAdvisor looks every 10 to 15 s, as they do)
SYNC = 15  # SOURCE: podautoscaler/horizontal.go: an autoscaler is first looked at one sync period after it appears
CONTROL_PLANE = "control-plane"


@dataclass(frozen=True)
class Write:
    """`kubectl apply` of a Deployment sets the replicas, at `time` (seconds)."""

    time: int
    replicas: int
    file: str


@dataclass(frozen=True)
class Pod:
    """A measured pod, by age in seconds since it got its node.

    The autoscaler can use its readings from an age in [counted_first, counted_last]: from the first one at the
    earliest (its window may begin after the pod was ready), from the first that is surely a new sample at the latest.
    `cpu`: (age, share of the request) of every change.
    """

    name: str
    runs: int
    seen: int
    counted_first: int
    counted_last: int
    cpu: tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class ReplayFacts:
    """Everything that a prediction takes as given.  `origin`: Unix seconds of time 0; other times since then."""

    name: str
    origin: int
    end: int
    first_sync: int
    least: int
    most: int
    setpoint: Fraction
    behavior: Behavior
    writes: tuple[Write, ...]
    poll: int
    placeable: tuple[int, int]
    pods: tuple[Pod, ...]


def facts_of(run: RunFiles) -> ReplayFacts:
    """Returns the facts of a run.  Raises InputError and UsageError."""
    commands = read_commands(run.commands)
    applied = [(command, _made_by(run, command)) for command in commands]
    workloads = [(command, made) for command, made in applied if isinstance(made, DeploymentManifest)]
    scaler = next(((command, made) for command, made in applied if isinstance(made, Behavior)), None)
    if not workloads or scaler is None:
        raise UsageError(f"{run.commands.name} applies no Deployment, or no autoscaler")
    shown = autoscaler(read_table(run.autoscaler)).shown
    if not shown:
        raise UsageError(f"{run.autoscaler.name} shows no autoscaler")
    origin = origin_of(run)
    request, most = workloads[0][1].request, shown[0].most
    if request is None:
        raise UsageError(f"{workloads[0][1].file} has no CPU request: utilization is a share of it")
    poll, measured = _pods(run, shown[0].target, request, origin)
    if not measured:
        raise UsageError(f"no pod of {run.pods.name} is given a node in {run.events.name}")
    return ReplayFacts(
        name=run.name,
        origin=origin,
        end=shown[-1].time - origin,
        first_sync=scaler[0].done - origin + SYNC,
        least=shown[0].least,
        most=most,
        setpoint=shown[0].setpoint,
        behavior=scaler[1],
        writes=tuple(_writes(workloads, origin)),
        poll=poll,
        placeable=_room(run, commands, workloads[-1][1], most),
        pods=measured,
    )


def origin_of(run: RunFiles) -> int:
    """Unix seconds of time 0: when the first `kubectl apply` was given.  Raises UsageError."""
    for command in read_commands(run.commands):
        if command.words[:2] == ("kubectl", "apply"):
            return command.given
    raise UsageError(f"{run.commands.name} has no `kubectl apply`: nothing says when the run began")


def _made_by(run: RunFiles, command: RecordedCommand) -> DeploymentManifest | Behavior | None:
    match command.words:
        case ("kubectl", "apply", "-f", file):
            return read_manifest(manifest(run, file))
        case ("kubectl", "autoscale", *_):
            return Behavior(" ".join(command.words), None)
    return None


def _writes(workloads: Sequence[tuple[RecordedCommand, DeploymentManifest]], origin: int) -> Iterator[Write]:
    """Replicas that an apply leaves out are 1 where it creates the Deployment or takes away an earlier number.

    SOURCE: Kubernetes documentation, Declarative Management: a field that the last applied configuration had and the
    new one lacks is deleted, and takes its default.
    """
    before: DeploymentManifest | None = None
    for command, workload in workloads:
        if workload.replicas is not None or before is None or before.replicas is not None:
            yield Write(command.done - origin, 1 if workload.replicas is None else workload.replicas, workload.file)
        before = workload


def _room(
    run: RunFiles, commands: Sequence[RecordedCommand], workload: DeploymentManifest, wanted: int
) -> tuple[int, int]:
    if run.nodes is None or not workload.spreads:
        return wanted, wanted
    known = {row.cells[0] for snapshot in read_table(run.nodes).snapshots for row in snapshot.rows}
    nodes: dict[str, dict[str, str]] = {name: {} for name in sorted(known) if CONTROL_PLANE not in name}
    for node, key, text in labels(tuple(commands)):
        if node in nodes:
            nodes[node][key] = text
    return placeable(nodes, workload.spreads, wanted)


def _pods(run: RunFiles, deployment: str, request: Fraction, origin: int) -> tuple[int, tuple[Pod, ...]]:
    """The interval of metrics-server in seconds, and every measured pod in the order in which they got their nodes."""
    every = pods(read_table(run.pods)).readings
    series = {pod: readings for pod, readings in every if pod.startswith(f"{deployment}-")}
    poll = poll_interval(tuple(series.values()))
    starts = [start for start in read_starts(run.events) if start.pod in series and start.bound >= origin - 1]
    return poll, tuple(_pod(start, series[start.pod], request, poll) for start in starts)


def poll_interval(series: Sequence[Sequence[PodReading]]) -> int:
    """Returns the most frequent distance, in seconds, between the times at which any reading changed."""
    times = sorted({time for readings in series for time, _ in _changes(readings)})
    gaps = [round((after - before) / 5) * 5 for before, after in itertools.pairwise(times)]
    likely = [gap for gap in gaps if 5 < gap <= 60]
    return max(set(likely), key=lambda gap: (likely.count(gap), -gap)) if likely else 15


def _changes(readings: Sequence[PodReading]) -> Iterator[tuple[int, Fraction]]:
    """Yields the readings that differ from the one before, with the first."""
    before: Fraction | None = None
    for reading in readings:
        if reading.cores != before:
            yield reading.time, reading.cores
        before = reading.cores


def _pod(start: PodStart, readings: Sequence[PodReading], request: Fraction, poll: int) -> Pod:
    changes = [(time - start.bound, cores / request) for time, cores in _changes(readings)]
    seen = changes[0][0]
    latest = seen + POLLS * poll
    renewed = changes[1][0] if len(changes) > 1 else latest
    runs = (start.started or start.bound) - start.bound
    return Pod(start.pod, runs, seen, seen, min(renewed, latest), tuple(changes))
