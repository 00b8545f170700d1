"""Computes step time and cache size from an accelerator's data sheet and a model's shape.  Bytes, FLOP, seconds.

A decode step reads all weights and the keys and values of every running request; a prompt token costs
two operations per parameter.  SOURCE: Pope et al., Efficiently Scaling Transformer Inference, MLSys 2023,
section 2; attention over the prompt itself is left out (6 % of a token's work at 2,000 tokens of an 8B model).
"""

from __future__ import annotations

from dataclasses import dataclass

from coherence.base.errors import UsageError
from coherence.simulate.serving.server import StepTime


@dataclass(frozen=True)
class Accelerator:
    """Published peaks: memory in bytes, bandwidth in bytes/s, dense operations per second in the model's format."""

    memory: float
    bandwidth: float
    flops: float


@dataclass(frozen=True)
class Shape:
    """A decoder: parameters, layers, heads of keys and values, size of a head, bytes of a number."""

    parameters: float
    layers: int
    kv_heads: int
    head_size: int
    width: int = 2

    @property
    def weights(self) -> float:
        """Bytes of all parameters."""
        return self.parameters * self.width

    @property
    def token(self) -> float:
        """Bytes of the keys and values of one token."""
        return 2.0 * self.layers * self.kv_heads * self.head_size * self.width


def step_time(
    accelerator: Accelerator, shape: Shape, *, of_bandwidth: float, of_flops: float, per_sequence: float = 0.0
) -> StepTime:
    """Step time when the given shares of the published peaks are reached.  `per_sequence`: seconds of the host."""
    for name, share in (("of_bandwidth", of_bandwidth), ("of_flops", of_flops)):
        if not 0 < share <= 1:
            raise UsageError(f"{name}(={share!r}) must be a share of the peak in (0, 1]")
    bandwidth, flops = accelerator.bandwidth * of_bandwidth, accelerator.flops * of_flops
    return StepTime(shape.weights / bandwidth, 2 * shape.parameters / flops, per_sequence, shape.token / bandwidth)


def cache_blocks(accelerator: Accelerator, shape: Shape, *, utilization: float = 0.9, block_size: int = 16) -> int:
    """Blocks of keys and values that fit beside the weights; working memory of the engine is not taken off."""
    room = accelerator.memory * utilization - shape.weights
    if room < shape.token * block_size:
        raise UsageError(f"no block fits: {room:.3g} bytes are left beside {shape.weights:.3g} bytes of weights")
    return int(room // (shape.token * block_size))
