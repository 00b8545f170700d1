"""prefill roofline: reading a prompt takes at least two operations for each weight and token.

## What
2 parameters * tokens / (units * peak): every weight multiplies and adds once for every token of the prompt.

## Why it matters
It is the floor of the time to the first token; only a kept prefix or a sparser model lowers it.

## Example
70.6e9 parameters, 2,000 tokens, 8 units of 989 TFLOP/s: 35.7 ms.

## Source
J. Kaplan et al., "Scaling laws for neural language models", 2020, section 2.1 (2 N per token, attention left out).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, ProofGrade, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import shared_work

BOUND = Bound(
    name="prefill_time",
    group="roofline",
    quantity="time to read a prompt",
    unit="s",
    kind=Status.THEOREM,
    loss="none",
    symbols=(
        Symbol(
            "parameters",
            "1",
            "weights that every token multiplies (without tables that are looked up, and the last layer's head)",
            Trend.RISES,
            sign="N",
        ),
        Symbol("tokens", "token", "tokens of the prompt that are not kept", Trend.RISES, sign="p"),
        Symbol("units", "1", "units that share the model", Trend.FALLS, least=1, whole=True, sign="g"),
        Symbol("peak", "FLOP/s", "peak rate of one unit", Trend.FALLS, open_=True, sign="R"),
    ),
    formula="2 * parameters * tokens / (units * peak)",
    assumptions=("dense_model", "peak_rates", "stated_precision", "no_prompt_cache", "plain_products"),
    source="Kaplan et al. 2020",
    examples=(
        Example(
            {
                "parameters": Fraction(706 * 10**8),
                "tokens": Fraction(2000),
                "units": Fraction(8),
                "peak": Fraction(989 * 10**12),
            },
            2 * 70.6e9 * 2000 / (8 * 989e12),
            "arithmetic",
        ),
    ),
    proofs=(Recheck("smt", "what units do together in a time", shared_work, ProofGrade.PART),),
    telemetry=("model size", "prompt tokens"),
    unread="no key states the weights of a model",
)
