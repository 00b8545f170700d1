"""vLLM: how many requests one replica works on at once, from the flags of its server.

`--max-num-seqs` is the most that `vllm:num_requests_running` can measure of one replica, and so bounds an autoscaler
that reads that series.  Requests beyond it wait and are not refused.  What is not written depends on the version and on
the accelerator (256 or 1024), and nothing is stated for it.

SOURCE: vLLM documentation (0.11), Engine Arguments, SchedulerConfig: max_num_seqs; Production Metrics:
vllm:num_requests_running.
"""

from __future__ import annotations

from coherence.importers._flags import Flags
from coherence.importers._names import sanitised
from coherence.importers._sketch import Sketch

RUNNING = sanitised("vllm:num_requests_running")
LENGTH = ("max-model-len", "max-num-batched-tokens", "block-size", "long-prefill-token-threshold")
MEMORY = ("gpu-memory-utilization", "kv-cache-memory-bytes", "swap-space", "cpu-offload-gb", "num-gpu-blocks-override",
          "kv-cache-dtype")  # fmt: skip
GROUP = ("tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size", "data-parallel-size-local")
TIMES = ("shutdown-timeout", "h11-max-incomplete-event-size", "timeout-keep-alive")
FALLBACK = ("scheduling-policy", "async-scheduling", "preemption-mode", "max-log-len")
SHORT = {"tp": "tensor-parallel-size", "pp": "pipeline-parallel-size", "dp": "data-parallel-size"}


def read(flags: Flags, sketch: Sketch) -> None:
    """Adds what one replica takes, and lists what else bounds it."""
    most = flags.whole("max-num-seqs") or flags.whole("max-num-seq")  # argparse takes the beginning of a name
    if most is not None:
        counted = f"{flags.thing}.{RUNNING}"
        sketch.put_limit(f"{flags.thing}_max_num_seqs", counted, most, "wait", per="replica")
    flags.remark("how long a request may be is not modelled", *LENGTH)
    flags.remark("the memory that is left for requests is known when it has started", *MEMORY)
    flags.remark("how many accelerators one replica needs is not modelled", *GROUP, *SHORT)
    flags.remark("not modelled", *TIMES, *FALLBACK)
