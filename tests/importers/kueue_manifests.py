"""Manifests of Kueue for tests: queues, doors to them, jobs."""

from __future__ import annotations

from coherence import importers
from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding
from coherence.language.design import Design

LOCAL = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: {name}, namespace: team}}
spec: {{clusterQueue: {name}}}
---
"""
CLUSTER = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  namespaceSelector: {{}}
  {more}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{{name: any, resources: [{{name: cpu, {quota}}}]}}]
---
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: team, labels: {{kueue.x-k8s.io/queue-name: {queue}{labels}}}}}
spec:
  parallelism: {pods}
  template: {{spec: {{containers: [{{name: work, resources: {{requests: {{{requests}}}}}}}]}}}}
---
"""


def queue(name: str, quota: str = "nominalQuota: 4", more: str = "cohortName: all") -> str:
    """Returns a ClusterQueue and the LocalQueue of its name."""
    return CLUSTER.format(name=name, quota=quota, more=more) + LOCAL.format(name=name)


def job(name: str, queue_name: str, pods: int, requests: str = "cpu: 1", labels: str = "") -> str:
    """Returns a Job that waits in a queue."""
    return JOB.format(name=name, queue=queue_name, pods=pods, requests=requests, labels=labels)


def read(text: str) -> Design:
    return importers.design_from_sources({"queues.yaml": text})


def findings(text: str, code: str) -> list[Finding]:
    """Returns what is answered under a code."""
    sources = {"queues.yaml": text}
    design = importers.design_from_sources(sources)
    answers = analyse(design, sources, importers.design_from_sources, verify_repairs=False).findings
    return [finding for finding in answers if finding.code == code]


def not_modelled(text: str) -> str:
    """Returns what is listed, in one text."""
    return "\n".join(words for _, words in read(text).not_modelled)
