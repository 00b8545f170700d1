"""Programs whose flags say how they control a cluster or serve requests: name -> what reads the flags."""

from __future__ import annotations

from coherence.importers._cluster_autoscaler import read as read_cluster_autoscaler
from coherence.importers._flags import Flags, Reader
from coherence.importers._python_servers import read_gunicorn, read_uvicorn
from coherence.importers._sketch import Sketch
from coherence.importers._vllm import read as read_vllm


def _adapter(flags: Flags, sketch: Sketch) -> None:
    """Notes in which time a metric must have had a sample to be known."""
    age, relist = flags.duration("metrics-max-age"), flags.duration("metrics-relist-interval")
    longest = age if age is not None and not age.text.startswith("0 ") else relist
    sketch.telemetry.relists += [longest] if longest is not None else []
    flags.pass_over("config", "prometheus-url")


READERS: dict[str, Reader] = {
    "cluster-autoscaler": read_cluster_autoscaler,
    "prometheus-adapter": _adapter,
    "prometheus-adapter-amd64": _adapter,
    "k8s-prometheus-adapter": _adapter,
    "gunicorn": read_gunicorn,
    "uvicorn": read_uvicorn,
    "vllm": read_vllm,
    "vllm-openai": read_vllm,
    "vllm-openai-cpu": read_vllm,
    "vllm-cpu-release-repo": read_vllm,
    "vllm.entrypoints.openai.api_server": read_vllm,
}
