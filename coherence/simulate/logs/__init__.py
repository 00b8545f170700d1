"""Replay against a recorded run: predict the replicas of a deployment and compare them with what `kubectl` showed.

`replay_logs(folder, design)` compares one run; without a design it writes one from the manifests, the command log and
the pods' measured readings (`design_text`).  The recorded replicas are never an input of a prediction.
"""

from __future__ import annotations

from coherence.simulate.logs.compare import ReplayComparison, rendered, replay_logs
from coherence.simulate.logs.designs import design_text
from coherence.simulate.logs.runs import RunFiles, find_runs

__all__ = ["ReplayComparison", "RunFiles", "design_text", "find_runs", "rendered", "replay_logs"]
