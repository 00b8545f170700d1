"""Programs whose flags say how they control a cluster or serve requests: name -> what reads the flags."""

from __future__ import annotations

from coherence.importers import _cluster_autoscaler, _python_servers, _vllm
from coherence.importers._flags import Flags, Reader
from coherence.importers._sketch import Sketch


def _adapter(flags: Flags, sketch: Sketch) -> None:
    """Notes in which time a metric must have had a sample to be known."""
    age, relist = flags.duration("metrics-max-age"), flags.duration("metrics-relist-interval")
    longest = age if age is not None and not age.text.startswith("0 ") else relist
    sketch.telemetry.relists += [longest] if longest is not None else []
    flags.pass_over("config", "prometheus-url")


READERS: dict[str, Reader] = {
    "cluster-autoscaler": _cluster_autoscaler.read,
    "prometheus-adapter": _adapter,
    "prometheus-adapter-amd64": _adapter,
    "k8s-prometheus-adapter": _adapter,
    "gunicorn": _python_servers.read_gunicorn,
    "uvicorn": _python_servers.read_uvicorn,
    "vllm": _vllm.read,
    "vllm-openai": _vllm.read,
    "vllm-openai-cpu": _vllm.read,
    "vllm-cpu-release-repo": _vllm.read,
    "vllm.entrypoints.openai.api_server": _vllm.read,
}
