"""Publishes the JSON Schema of what each command prints with `-o json` (`coherence schema --of check`).

A form is written as it looks: a mapping of keys (`?` behind those that may be absent), a list with the form of its
items, `{"*": form}` for a mapping by names, a tuple of forms where one of several stands, and the name of a type.
Keys may be added without a new `format_version`, so that a schema leaves room for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Form: TypeAlias = "str | Mapping[str, Any] | list[Any] | tuple[Any, ...]"

TYPES: Mapping[str, Any] = {
    "text": {"type": "string"}, "number": {"type": "number"}, "count": {"type": "integer", "minimum": 0},
    "truth": {"type": "boolean"}, "null": {"type": "null"}, "any": {},
}  # fmt: skip
HEAD = {"format_version": "count", "tool": "text", "version": "text"}
PLACE = dict.fromkeys(("line", "column", "end_line", "end_column"), "count") | {"file": "text", "label": "text"}
NOT_READ = [{"place": PLACE, "section": "text", "entry": "text", "key": "text", "reason": "text", "counts": "truth"}]
MAYBE_NUMBER, MAYBE_TEXT = ("number", "null"), ("text", "null")
QUANTITY = {"exact": MAYBE_TEXT, "value": MAYBE_NUMBER, "unit": "text"}
EDIT = {"place": PLACE, "old": "text", "new": "text"}
EVIDENCE = {
    "grade": "text", "method": "text", "certificate": MAYBE_TEXT, "numbers": {"*": QUANTITY}, "bound": "text",
    "replayed": "truth", "cut_short": "truth", "witness": [{"time": (QUANTITY, "null"), "text": "text"}],
}  # fmt: skip
FINDING = {
    "code": "text", "slug": "text", "verdict": "text", "certainty": "text", "severity": "text", "message": "text",
    "places": [PLACE], "of": ["text"], "evidence": EVIDENCE, "assumptions": ["text"], "fingerprint": "text",
    "repairs": [{"edits": [EDIT], "verified": "text", "proved": "truth", "concedes": ["text"]}],
}  # fmt: skip
CHECK = {
    "format_version": "count", "tool": "text", "versions": {"*": "text"}, "seed": ("count", "null"),
    "inputs": [{"path": "text", "sha256": "text"}],
    "counts": {
        "designs": {"*": "count"}, "policies": {"*": "count"}, "promises": {"*": "count"}, "pairs": {"*": "count"},
        "open_default_promises": [{"kind": "text", "needs": "text", "number": "count"}], "suppressed": "count",
        "verdicts": {"*": "count"}, "severities": {"*": "count"}, "baseline?": "any",
    },
    "findings": [FINDING], "suppressed": [FINDING], "known?": [FINDING], "not_read": NOT_READ, "assumptions": ["text"],
    "skipped": [{"path": "text", "kind": "text", "reason": "text"}], "since?": "any", "problems?": "any",
}  # fmt: skip
ROOTS = {
    "verdict": "text", "how": "text", "unstable_roots": ("count", "null"), "growth_per_lap": MAYBE_NUMBER,
    "period_seconds": MAYBE_NUMBER, "damping": MAYBE_NUMBER, "multipliers": [["number"]],
}  # fmt: skip
SUBSET = ({"loops": ["text"], "minimal": "truth", "how": "text"}, "null")
POINT = {
    "at": {"*": {"value": "number", "exact": "text"}}, "acting": ["text"], "outside_bounds": ["text"],
    "basin": ({"runs": "count", "of": "count"}, "null"), "grade": "text", "verdict": "text", "reason": "text",
    "branches": [{"while": "text", **ROOTS}], "inside_tolerance": (ROOTS, "null"), "smallest_set": SUBSET,
    "pair": ({"loops": ["text"], "gain": MAYBE_NUMBER}, "null"), "dropped": ["text"], "margins": [{"*": "any"}],
}  # fmt: skip
GROUP = {
    "loops": ["text"], "lap_seconds": "number", "from_bounds": MAYBE_TEXT, "smallest_set": SUBSET, "notes": ["text"],
    "exact": {
        "verdict": "text", "grade": "text", "how": "text", "period_seconds": MAYBE_NUMBER,
        "ranges": {"*": ["number"]}, "starts": "count", "rests": [{"*": ("number", "text")}],
    },
    "operating_points": [POINT],
    "retuning": [{
        "loop": "text", "what": "text", "value": MAYBE_NUMBER, "verified": "text",
        "edits": [{"file": "text", "line": "count", "column": "count", "old": "text", "new": "text"}],
    }],
}  # fmt: skip
ANALYZE = {
    **HEAD, "path": "text", "groups": [GROUP], "in_no_feedback": [{"loop": "text", "reason": "text"}],
    "flows": [{"*": "any"}], "retries": [{"path": ["text"], "tries": MAYBE_NUMBER, "layers": ["any"], "cause": "text"}],
    "assumptions": ["text"], "limit_cycles": [{"*": "any"}], "disagreements": [{"*": "any"}],
    "operating_points_of_retries": [{"*": "any"}], "not_read": NOT_READ,
}  # fmt: skip
READING = {
    "of": "text", "what": "text", "unit": "text", "value": MAYBE_NUMBER, "low?": "number", "high?": "number",
    "runs?": {"least": "number", "most": "number"}, "more_than?": "truth", "out_of?": "any", "too_short?": "text",
}  # fmt: skip
STUDY = {
    "path": "text", "readings": [READING], "assumptions": ["text"], "notes": ["text"], "not_read": NOT_READ,
    "promises": [{
        "name": "text", "promise": "text", "verdict": "text", "message": "text", "line": "count", "figure?": "any",
        "witness?": {"seed": ("count", "null"), "seconds": "number"},
    }],
}  # fmt: skip
SIMULATE = {
    **HEAD, "seconds": "number", "warm_up": MAYBE_NUMBER, "seeds": ["count"], "stopped": "truth", "designs": [STUDY],
    "difference": [READING],
}  # fmt: skip
SWEEP = {
    **HEAD, "path": "text", "keys": [{"key": "text", "unit": "text", "values": ["text"]}], "counts": {"*": "count"},
    "points": [{
        "values": ["text"], "verdict": "text", "loops": ["text"], "period": MAYBE_NUMBER, "growth": MAYBE_NUMBER,
        "why": "text", "assumes": ["text"],
    }],
    "disagreements": ["any"], "assumptions": ["text"], "not_read": NOT_READ,
    "linear?": {"readings": "count", "checks": "count", "marks": {"*": "text"}, "rows": ["text"]},
}  # fmt: skip
ESTIMATE = {"value": MAYBE_NUMBER, "low": MAYBE_NUMBER, "high": MAYBE_NUMBER, "error": MAYBE_NUMBER}
INFLUENCE = {
    "cause": "text", "effect": "text", "delay_s": "number", "told": "truth", "strength": (ESTIMATE, "null"),
    "seen": "truth", "method": "text", "refused": "text", "measure": ["text"], "condition": MAYBE_NUMBER,
}  # fmt: skip
INTERVAL = {"value": "number", "low": "number", "high": "number"}
OPINION = {
    "cause": "text", "effect": "text", "delay_s": "number", "ours": INTERVAL, "theirs": INTERVAL, "method": "text",
    "p": "number", "seen": "truth", "differs": "truth",
}  # fmt: skip
FIT = {
    **HEAD, "design": "text",
    "sections": [{"title": "text", "influences?": [INFLUENCE], "notes?": ["text"], "*": "any"}],
    "assumptions?": ["text"], "not_read?": NOT_READ, "second_opinion?": [OPINION],
}  # fmt: skip
SERVER = {"server": "text", "requests": "count", "residual": "number", "*": "number"}  # its step times by their keys
SYMBOL = {"name": "text", "unit": "text", "means": "text", "way": "text", "whole": "truth"}
BOUND = {
    "name": "text", "group": "text", "loss": "text", "quantity": "text", "unit": "text", "kind": "text",
    "formula": "text", "valid": "text", "source": "text", "assumptions": ["text"], "proofs": ["text"],
    "grades": ["text"], "quantifier": "text", "witness": MAYBE_TEXT, "telemetry": ["text"], "symbols": [SYMBOL],
}  # fmt: skip
VALUE = {
    "bound": "text", "unit": "text", "kind": "text", "low": MAYBE_NUMBER, "high": MAYBE_NUMBER,
    "inputs": {"*": [("number", "text")]},
}  # fmt: skip
FLOORS = {
    "path": "text", "not_read": NOT_READ, "assumptions": ["text"],
    "floors": [{**VALUE, "thing": "text", "loss": "text", "assumptions": ["text"], "places": [{"*": "any"}]}],
    "without_a_number": [{"bound": "text", "thing": "text", "why": "text"}],
}  # fmt: skip
TASK = {
    "task": "text", "says": "text",
    "models": [{
        "aids": ["text"], "low": MAYBE_NUMBER, "unit": "text", "impossible": "truth", "bound": "text", "source": "text",
        "needs": ["text"],
    }],
}  # fmt: skip
REGION = {
    **HEAD, "path": "text", "keys": ["text"], "cells": [{"status": "text", "box": {"*": ["text"]}, "why": ["text"]}],
    "shares": {"*": "number"}, "untouched": ["text"], "left_open": ["any"], "asks": "count", "half_spaces": ["any"],
    "no_half_space": ["text"], "assumptions": ["text"], "not_read": NOT_READ,
}  # fmt: skip
EDGE = {
    **HEAD, "path": "text", "key": "text", "holds": ("text", "null"), "fails": ("text", "null"),
    "open_at": ("text", "null"), "proved": ["text"], "conflicts": ["text"], "left_open": ["text"], "asked": ["text"],
    "assumptions": ["text"], "not_read": NOT_READ,
}  # fmt: skip
INVENTORY = {
    **HEAD, "policies": [{"*": "text"}],
    "default_promises": [{
        "kind": "text", "of": ["text"], "state": "text", "needs": "text", "promise": "text", "codes": ["text"],
    }],
}  # fmt: skip

RANK = {
    **HEAD,
    "incidents": [{
        "incident": "text", "target": "text", "method": "text", "p": "number", "windows": "count", "claimed": "truth",
        "left_out": ["text"], "services": [{"service": "text", "score": "number", "why": "text"}], "label": "text",
        "place": ("count", "null"),
    }],
}  # fmt: skip

NETWORK = {
    **HEAD, "path": "text", "verdict": "text", "reason": "text", "certified": ("text", "truth", "null"),
    "unstable": ("count", "null"), "rightmost": [["number"]], "rightmost_confirmed": ("truth", "null"),
    "growth_per_second": MAYBE_NUMBER, "period_seconds": MAYBE_NUMBER, "lap_seconds": MAYBE_NUMBER,
    "growth_per_lap": MAYBE_NUMBER, "multipliers": [["number"]], "margins": [{"*": "any"}],
    "factors": [{"at": "text", "low": MAYBE_NUMBER, "high": MAYBE_NUMBER}], "short_delays": ({"*": "any"}, "null"),
    "to_blame": [{"blocks": ["text"], "minimal": "truth"}], "notes": ["text"],
    "answers": [{"question": "text", "of": ["text"], "open": "truth", "*": "any"}], "cross_checks?": [{"*": "any"}],
}  # fmt: skip
SERIES = {
    **HEAD, "path": "text", "interval_seconds": "number",
    "columns": [{"column": "text", "samples": "count", "effective_samples": MAYBE_NUMBER, "*": "any"}],
    "responses": [{"from": "text", "to": "text", "*": "any"}], "design_periods_seconds": {"*": "number"},
    "hidden": ["text"],
}  # fmt: skip
SIDE = [{"message": "text", "grade": "text"}]
CHANGE = {
    "code": "text", "of": ["text"], "before": "text", "after": "text", "causes": [["text"]], "reason": "text",
    "findings": {"before": SIDE, "after": SIDE},
}  # fmt: skip
TAIL = ({"p99": MAYBE_NUMBER, "load": MAYBE_NUMBER}, "null")
DIFF = {
    **HEAD, "before": "text", "after": "text", "verdicts": [CHANGE], "figures": [CHANGE], "alike": "count",
    "values": [{"path": "text", "text": "text", "file": "text", "line": "count"}],
    "floors": [dict.fromkeys(("name", "thing", "before", "after"), "text")],
    "loops": [{
        "loop": "text", "certified": "truth", "distance?": "number", "margin?": "number", "margin_left?": "number",
        "reason": "text",
    }],
    "adds": ["text"],
    "tails": [{"hop": "text", "before": TAIL, "after": TAIL, "ratio": MAYBE_NUMBER}],
    "sensitivity": [{
        "name": "text", **dict.fromkeys(("values", "conflicts", "proved", "undecided"), ("count", "null")),
        **dict.fromkeys(("margin", "carried", "p99"), MAYBE_NUMBER), "reason": "text",
    }],
}  # fmt: skip
MEASURES: Mapping[str, Any] = {
    "verdict": "text", "recovery": MAYBE_NUMBER, "latency before": {"median": MAYBE_NUMBER, "p99": MAYBE_NUMBER},
    "windows": {"*": {"requests": "count", "tries": MAYBE_NUMBER, "success": MAYBE_NUMBER}},
}  # fmt: skip
ON_A_PROXY: Mapping[str, Any] = {
    **HEAD, "design": "text", "with": "text", "seconds": "number", "trigger": {"pause": "number", "after": "number"},
    "agrees": "truth", "assumptions": ["text"], "not_read": NOT_READ,
}  # fmt: skip
REPRODUCED = {
    **ON_A_PROXY, "seed": "count",
    "observed": {
        **MEASURES, "outcomes of tries": {"*": "count"}, "lateness": {"*": "number"}, "disturbed": "text",
    },
    "predicted": {**MEASURES, "near the edge": "truth", "fresh draws": [MEASURES], "rule": {"*": "any"}},
}  # fmt: skip
SHARE = {"number": "count", "of": "count", "low": "number", "high": "number"}
REPEATED = {
    **ON_A_PROXY, "p_value": MAYBE_NUMBER, "collapsed": {"observed": SHARE, "predicted": SHARE},
    "runs": [{
        "seed": "count", "verdict": "text", "own": "text", "recovery": MAYBE_NUMBER, "disturbed": "text",
    }],
}  # fmt: skip
COURSE = {"replicas": ["number"], "period": MAYBE_NUMBER, "lowest": "number", "highest": "number"}
AUTOSCALED = {
    **HEAD, "loop": "text", "signal": "text", "metric": "text", "observed": COURSE, "predicted": COURSE,
    "agrees": "truth", "decisions as predicted": "count", "readings": [["number"]], "serving": [["number"]],
    "requests": {"sent": "count", "served": "count"}, "lateness": {"*": MAYBE_NUMBER}, "disturbed": "truth",
    "assumptions": ["text"], "not_read": NOT_READ,
}  # fmt: skip
EXPERIMENTS = {
    **HEAD,
    "experiments": [{
        "experiment": "text", "null": "text", "runs": "count", "truths": [{"holds": "truth", "*": "any"}],
        "curves": [{"name": "text", "x": "text", "runs": "count", "points": [["number"]]}],
    }],
}  # fmt: skip
PROOFS = {
    **HEAD, "proofs": [{"bound": "text", "how": "text", "holds": "truth", "said": "text"}], "cited": ["text"],
}  # fmt: skip
PROBLEMS = {**HEAD, "problems": [{"place": PLACE, "message": "text", "remedy": "text"}]}  # of an input

FORMS: Mapping[str, Form] = {
    "analyze": (ANALYZE, NETWORK, SERIES, PROBLEMS), "check": CHECK,
    "diff": (DIFF, PROBLEMS), "fit": (FIT, {**HEAD, "servers": [SERVER]}, PROBLEMS),
    "reproduce": (REPRODUCED, REPEATED, AUTOSCALED, EXPERIMENTS, PROBLEMS),
    "inventory": (INVENTORY, PROBLEMS), "rank": (RANK, PROBLEMS), "region": (REGION, EDGE, PROBLEMS),
    "simulate": (SIMULATE, PROBLEMS), "sweep": (SWEEP, PROBLEMS),
    "bound": ({**HEAD, "designs": [FLOORS]}, {**HEAD, **BOUND, "value?": "any"}, {**HEAD, "bounds": [BOUND]},
              {**HEAD, "tasks": [TASK]}, PROOFS, PROBLEMS),
    "rules": {**HEAD, "rules": [{"code": "text", "slug": "text", "summary": "text", "domain": "text"}]},
}  # fmt: skip


def output_schema(command: str, *, closed: bool = False) -> dict[str, Any]:
    """Returns the schema of a command's JSON; `closed` leaves no room for keys that it does not name."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"what `coherence {command}` prints as JSON",
        **_schema(FORMS[command], closed=closed),
    }


def _schema(form: Form, *, closed: bool) -> dict[str, Any]:
    if isinstance(form, str):
        return dict(TYPES[form])
    if isinstance(form, tuple):
        return {"anyOf": [_schema(one, closed=closed) for one in form]}
    if isinstance(form, list):
        return {"type": "array", "items": _schema(form[0], closed=closed)}
    keys = {key: inner for key, inner in form.items() if key != "*"}
    schema: dict[str, Any] = {"type": "object"}
    if keys:
        schema["properties"] = {key.removesuffix("?"): _schema(inner, closed=closed) for key, inner in keys.items()}
        schema["required"] = [key for key in keys if not key.endswith("?")]
    if "*" in form:
        schema["additionalProperties"] = _schema(form["*"], closed=closed)
    elif closed:
        schema["additionalProperties"] = False
    return schema
