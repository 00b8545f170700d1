"""transformer operations: what one training step of a dense decoder must compute, forward and backward.

## What
With batch B, sequence s, L layers and width h: 72 B s L h^2 (1 + s/(6 h)); matrix products only, backward twice
forward, the vocabulary left out.

## Why it matters
Over the peak it is the step's compute floor; what recomputation adds is a cost of the chosen scheme.

## Example
Megatron 1T (B = 512, s = 2,048, L = 128, h = 25,600) on 512 units of 312 TFLOP/s in 71.49 s: 56.2 % of the peak.

## Source
D. Narayanan et al., SC 2021, appendix (without the vocabulary term); V. Korthikanti et al., MLSys 2023, table 5.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Status, Symbol, Trend


def layer_products() -> Checked:
    """Forward per layer: 24 B s h^2 in products with weights and 4 B s^2 h in attention; backward twice as much."""
    import sympy as sp

    batch, length, width, layers = sp.symbols("B s h L", positive=True)
    weights = 2 * batch * length * (3 * width**2 + width**2 + 4 * width**2 + 4 * width**2)
    attention = 2 * 2 * batch * length**2 * width
    total = 3 * layers * (weights + attention)
    claim = 72 * batch * length * layers * width**2 * (1 + length / (6 * width))
    return Checked(sp.simplify(total - claim) == 0, "the products of one layer, three times, are the formula")


BOUND = Bound(
    name="transformer_operations",
    group="roofline",
    quantity="operations of one training step",
    unit="1",
    kind=Status.EXACT,
    loss="none",
    symbols=(
        Symbol("batch", "1", "sequences in a step", Trend.RISES, least=1, whole=True, sign="B"),
        Symbol("sequence", "1", "tokens of a sequence", Trend.RISES, least=1, whole=True, sign="s"),
        Symbol("layers", "1", "layers", Trend.RISES, least=1, whole=True, sign="L"),
        Symbol("width", "1", "hidden width", Trend.RISES, least=1, whole=True, sign="h"),
    ),
    formula="72 * batch * sequence * layers * width * width * (1 + sequence / (6 * width))",
    assumptions=(
        "dense_model",
        "full_attention",
        "plain_products",
        "four_wide_layers",
        "full_heads",
        "all_weights_trained",
    ),
    source="Narayanan et al. 2021, appendix",
    examples=(
        Example(
            {"batch": Fraction(512), "sequence": Fraction(2048), "layers": Fraction(128), "width": Fraction(25600)},
            0.5619592016028063 * 512 * 312e12 * 71.49,
            "Megatron 1T: 56.2 % of the peak in 71.49 s",
            1e-9,
        ),
    ),
    proofs=(Recheck("identity", "products of one layer", layer_products),),
    telemetry=("shape of the model", "batch"),
    unread="no key states the layers and the width of a model; `operations` of a tier states the work",
)
