"""One row for each command: what it needs to answer quickly, its exit codes, and which features it has not, and why.

`tests/cli/test_command_features.py` tries every cell, and writes docs/commands.md from the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

DESIGN = """\
coherence: 1
workload: {users: {rate: 4 req/s, service: {mean: 100 ms, cv: 1}}}
components:
  web: {copies: 2}
  pool: {desired: 1 .. 50, load: 20, util: load / desired}
loops:
  hpa:
    target: {signal: pool.util, setpoint: 50 %}
    timescale: {period: 15 s}
    actuation: {signal: pool.desired, from: 20, bounds: [1, 50]}
calls: [{from: users, to: web, deadline: 2 s, per_try: 500 ms, tries: 3, on_timeout: abandon}]
telemetry: {users.rate: "sum(rate(requests_total[1m]))"}
promises: {small: pool.desired <= 45}
"""
NETWORK = """\
network: 1
blocks: {queue: {numerator: [1], denominator: [1, 0], delay: 10 s}}
couplings: [{from: queue, to: queue, gain: -1}]
"""
IDLE = """\
coherence: 1
components: {x: {y: 0 .. 9, z: 1 .. 5}}
loops:
  a:
    timescale: {period: 10 s}
    target: {signal: x.y, setpoint: 3}
    actuation: {signal: x.z, law: proportional, from: 2, bounds: [1, 5]}
"""
CALL = """\
coherence: 1
calls:
  - {from: a, to: b, deadline: 10 s, per_try: 5 s, tries: 4, retry_when: [timeout]}
"""
MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
"""
FILES: Mapping[str, str] = {
    "d.yaml": DESIGN,
    "worse.yaml": DESIGN.replace("500 ms", "1500 ms"),
    "open.yaml": "coherence: 1\nloops: {a: {trigger: x.y > 3, actuation: {signal: x.z, law: step, by: 1}}}\n",
    "unstable.yaml": NETWORK,
    "broken.yaml": DESIGN.replace("<= 45", "<= 25"),
    "lacking.yaml": DESIGN.replace("deadline: 2 s, ", ""),
    "idle.yaml": IDLE,
    "bad.yaml": "coherence: 1\nloops: {a: {perod: 5 s}}\n",
    "manifest.yaml": MANIFEST,
    "t.csv": "time,web.load,users.rate\n" + "".join(f"{n},{n % 7},{n % 5}\n" for n in range(100)),
}
NOT_ASKED = "reads what is stated, in less than 2 s"
NO_DESIGN = "reads no design"
TELLS = "prints pages of the tool itself"


class Code(NamedTuple):
    """What an exit code means, and a command line that ends with it."""

    means: str
    words: str


@dataclass(frozen=True)
class CommandRow:
    """`words`: a quick command line about `d.yaml`; `lacks`: features (columns) that the command has not, and why."""

    words: str
    codes: Mapping[int, Code]
    lacks: Mapping[str, str] = field(default_factory=dict)
    slow: bool = False


def invalid(words: str) -> Code:
    """Returns the exit code of an input with a problem."""
    return Code("input or command line", words)


QUICK = "-s COH201"
ONE_RUN = "--for 5s --warm-up 0s --runs 2"
SPAN = "-p loops.hpa.target.setpoint=49:51:2 --jobs 1 -s COH201"
BOX = "-p calls.0.tries=1:2 -s COH201"
FIT = "--telemetry t.csv --loss web.load"
TEXT_ALONE = {"formats": "prints text alone", "json": "prints text alone", "problems": "prints text alone"}
FILE_ALONE = {"json": "writes a file of one kind", "problems": "writes a file of one kind"}

ROWS: Mapping[str, CommandRow] = {
    "analyze": CommandRow(
        "d.yaml --no-retune",
        {1: Code("answers contradict each other, or a network is unstable", "--network unstable.yaml"),
         2: invalid("bad.yaml"),
         4: Code("--strict: an answer is open", "idle.yaml --strict")},
    ),
    "baseline": CommandRow(
        "write d.yaml -f b.json", {2: invalid("write bad.yaml -f b.json")},
        {"formats": "writes its file (--file)", **FILE_ALONE},
    ),
    "bound": CommandRow(
        "d.yaml", {1: Code("--prove: a proof fails", ""), 2: invalid("bad.yaml"),
                   4: Code("--strict: a floor is without a number, or a value is not read", "lacking.yaml --strict")},
        {"progress": f"{NOT_ASKED} (--prove draws)"},
    ),
    "check": CommandRow(
        f"d.yaml {QUICK}",
        {1: Code("conflict (--fail-on)", f"worse.yaml {QUICK}"), 2: invalid("bad.yaml"),
         4: Code("--strict: undecided, or not read", "open.yaml --strict")},
    ),
    "demo": CommandRow(
        "", {1: Code("a design differs from its expected.yaml", "")},
        {**TEXT_ALONE, "pipe": NO_DESIGN},
    ),
    "diff": CommandRow(
        f"d.yaml d.yaml {QUICK}",
        {1: Code("a new conflict", f"d.yaml worse.yaml {QUICK}"), 2: invalid("d.yaml bad.yaml")},
    ),
    "explain": CommandRow(
        "COH201", {2: invalid("COH000")}, {**TEXT_ALONE, "progress": TELLS, "pipe": NO_DESIGN},
    ),
    "export": CommandRow(
        "d.yaml --as json", {2: invalid("bad.yaml --as json")},
        {"formats": "--as and -o FILE: a .mat file is no text", "json": "its JSON is a network file",
         "problems": "its JSON is a network file"},
    ),
    "fit": CommandRow(
        f"d.yaml {FIT}",
        {2: invalid(f"bad.yaml {FIT}"), 4: Code("--strict: an answer is open", f"d.yaml {FIT} --strict")},
        slow=True,
    ),
    "graph": CommandRow(
        "d.yaml", {2: invalid("bad.yaml")},
        {"json": "GraphML is for machines", "problems": "GraphML is for machines"},
    ),
    "import": CommandRow(
        "all manifest.yaml", {2: invalid("all d.yaml")},
        {"formats": "prints a design", "json": "prints a design", "problems": "prints a design"},
    ),
    "init": CommandRow(
        "--to new.yaml", {2: invalid("--from nosuch")},
        {"formats": "writes a design (--to)", **FILE_ALONE, "progress": NOT_ASKED, "pipe": NO_DESIGN},
    ),
    "inventory": CommandRow("d.yaml", {2: invalid("bad.yaml")}),
    "lsp": CommandRow(
        "--help", {}, {**TEXT_ALONE, "progress": "speaks to an editor", "pipe": "speaks to an editor",
                       "quiet": "speaks to an editor"},
    ),
    "overlay": CommandRow(
        "manifest.yaml", {2: invalid("d.yaml")},
        {"formats": "writes an overlay (-o FILE)", **FILE_ALONE},
    ),
    "rank": CommandRow(
        "t.csv --signal web.load --incident 80..99",
        {2: invalid("t.csv"), 4: Code("--strict: no cause is claimed",
                                      "t.csv --signal web.load --incident 80..99 --strict")},
        {"pipe": "reads files of telemetry"},
    ),
    "region": CommandRow(
        f"d.yaml {BOX}",
        {2: invalid(f"bad.yaml {BOX}"),
         4: Code("--strict: a box is open, or a value is not read", f"d.yaml {BOX} --strict")},
    ),
    "report": CommandRow(
        "d.yaml -o page.html --no-cache --time-limit 2", {2: invalid("bad.yaml -o page.html")},
        {"formats": "writes a page (-o FILE)", **FILE_ALONE}, slow=True,
    ),
    "reproduce": CommandRow(
        "d.yaml --with nginx --dry-run --into made",
        {1: Code("not as predicted", ""), 2: invalid("bad.yaml --dry-run"),
         4: Code("--strict: a value is not read", "d.yaml --with nginx --dry-run --into made --strict")},
        {"progress": "--dry-run writes files alone; a run draws"},
    ),
    "rules": CommandRow("", {}, {"problems": TELLS, "progress": TELLS, "pipe": NO_DESIGN}),
    "schema": CommandRow(
        "", {2: invalid("--of nosuch")},
        {"json": "prints schemas", "problems": TELLS, "progress": TELLS, "pipe": NO_DESIGN},
    ),
    "simulate": CommandRow(
        f"d.yaml {ONE_RUN}",
        {1: Code("a promise is broken", f"broken.yaml {ONE_RUN}"), 2: invalid(f"bad.yaml {ONE_RUN}"),
         4: Code("--strict: a promise is open, or a value is not read", "")},
    ),
    "sweep": CommandRow(
        f"d.yaml {SPAN}", {1: Code("answers contradict each other", ""), 2: invalid(f"bad.yaml {SPAN}"),
                           4: Code("--strict: a point is open, or a value is not read", f"d.yaml {SPAN} --strict")},
    ),
    "watch": CommandRow(
        "d.yaml --rules r.yaml", {2: invalid("bad.yaml --rules r.yaml")},
        {**TEXT_ALONE, "progress": "alerts are printed as they come"},
    ),
}  # fmt: skip
