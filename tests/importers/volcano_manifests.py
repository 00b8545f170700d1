"""Manifests of Volcano for tests: queues, jobs with tasks, the configuration of its scheduler."""

from __future__ import annotations

QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec: {{{spec}}}
---
"""
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: {name}}}
spec: {{queue: q, {spec}, tasks: [{tasks}]}}
---
"""
POD = "{{containers: [{{resources: {{requests: {{cpu: {cpu}}}}}}}]}}"
TASK = f"{{{{name: {{name}}, replicas: {{pods}}, template: {{{{spec: {POD}}}}}}}}}"
CONFIGURATION = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: scheduler}}
data:
  volcano-scheduler.conf: |
    actions: "{actions}"
    tiers:
    - plugins:
{plugins}
---
"""


def queue(spec: str = "capability: {cpu: 5}", name: str = "q") -> str:
    return QUEUE.format(name=name, spec=spec)


def job(name: str, *tasks: tuple[int, int], least: int | None = None) -> str:
    """Returns a job whose tasks have so many pods, with so much cpu each."""
    texts = [TASK.format(name=f"t{i}", pods=pods, cpu=cpu) for i, (pods, cpu) in enumerate(tasks)]
    spec = f"minAvailable: {least}" if least is not None else "schedulerName: volcano"
    return JOB.format(name=name, spec=spec, tasks=", ".join(texts))


def configuration(*plugins: str, actions: str = "enqueue, allocate, backfill") -> str:
    return CONFIGURATION.format(actions=actions, plugins="\n".join(f"      - name: {name}" for name in plugins))
