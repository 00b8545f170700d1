"""Writes a fitted network as pgmpy's linear-Gaussian file, which its LinearGaussianBayesianNetwork.load reads.

Numbers keep all their digits, and pgmpy is not needed to write.  A signal some steps before is a node `signal@steps`.
SOURCE: pgmpy 1.1, LinearGaussianBayesianNetwork.save (the JSON of bnlearn's repository).
"""

from __future__ import annotations

import json

import numpy as np

from coherence.causal.carrier.linear_gaussian import GaussianNetwork, network
from coherence.causal.fitting.fit import Fitted
from coherence.causal.fitting.gram import Column

MARK = b'"(Intercept)"'  # stands in every such file


def network_json(fitted: Fitted) -> str:
    """Returns the file of a fit; `refused` lists what is no arrow because these data cannot tell it.

    Raises UsageError where causes form a circle within one step.
    """
    refused = [
        {"effect": equation.effect, "causes": sorted({name for name, _ in equation.lost}), "why": equation.refused}
        for equation in (node.equation for node in fitted.nodes.values())
        if equation.lost
    ]
    return json.dumps({**_parts(network(fitted)), "refused": refused}, indent=1) + "\n"


def _parts(net: GaussianNetwork) -> dict[str, object]:
    labels = [_label(column) for column in net.columns]
    arcs, cpds = [], {}
    for row, label in enumerate(labels):
        causes = np.flatnonzero(net.matrix[row]).tolist()
        arcs += [[labels[cause], label] for cause in causes]
        coefficients = {"(Intercept)": [float(net.constant[row])]}
        coefficients |= {labels[cause]: [float(net.matrix[row, cause])] for cause in causes}
        variance, parents = [float(net.variance[row])], [labels[cause] for cause in causes]
        cpds[label] = {"coefficients": coefficients, "variance": variance, "parents": parents}
    return {"nodes": labels, "arcs": arcs, "cpds": cpds}


def _label(column: Column) -> str:
    name, lag = column
    return f"{name}@{lag}" if lag else name
