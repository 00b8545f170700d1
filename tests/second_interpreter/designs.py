"""Draws small designs of loops and plants, and their starts, phases, orders and varying values."""

from __future__ import annotations

from fractions import Fraction
from random import Random

KINDS = {"plants_held": ("always", "always", "never"), "plants_reached": ("eventually", "eventually_always"),
         "plants_answered": ("response",), "wide_plants": ("always", "never"),
         "wide_plants_reached": ("eventually", "eventually_always")}  # fmt: skip
WIDE = ("wide_plants", "wide_plants_reached")
WRITES = {"step": "law: step, by: {}", "set": "law: set, to: {}"}


def plant_design(random: Random) -> str:
    """Returns a plant under one or two loops, without promises."""
    step = random.choice(["1 s", "1 s", "2 s"])
    pull = random.choice(["0.5", "0.75", "0.8", "1"])
    drive = random.choice(["out.u", "out.u", "out.u - 1", "out.u + src.w", "0.5 * out.u"])
    inner = f"{pull} * x + {drive}"
    plant = random.choice([inner, f"max(0, {inner})", f"min(20, max(-5, {inner}))", "x + 1 if x < 7 else 0"])
    start = random.choice(["0", "3", "0 .. 4", "-2 .. 6"])
    source = random.choice(["{w: 1}", "{w: 0 .. 1}", "{w: {varies: 0 .. 1}}", "{w: {varies: -1 .. 2}}"])
    loops = [plant_loop(random, name) for name in ("a", "b")[: random.choice([1, 1, 2])]]
    lines = ["coherence: 1", "components:", f"  src: {source}"]
    lines += [f'  tank: {{state: "x\' = {plant}", step: {step}, from: {start}}}', "loops:", *loops]
    return "\n".join(lines)


def wide_design(random: Random) -> str:
    """Returns a plant under two or three loops of one command, each with limits or holds, and an outside."""
    pull, drive = random.choice(["0.5", "0.8", "1"]), random.choice(["out.u", "out.u - 1", "0.5 * out.u"])
    start = random.choice(["0", "3", "0 .. 4"])
    loops = [wide_loop(random, name) for name in "abc"[: random.choice([2, 2, 3])]]
    tank = f'  tank: {{state: "x\' = min(12, max(-4, {pull} * x + {drive}))", step: 1 s, from: {start}}}'
    return "\n".join(["coherence: 1", "components:", tank, "loops:", *loops])


def wide_loop(random: Random, name: str) -> str:
    """Returns one of several loops that step or set out.u, with rates and holds, by x, the outside or what it wrote."""
    low, high = random.randint(-2, 5), random.randint(3, 9)
    conditions = [f"x >= {high}", f"x <= {low}", f"ext.load > {low} and x < {high}", f"out.u <= {low}", "ext.load > 5"]
    write = random.choice(["law: step, by: 1", "law: step, by: -1", "law: step, by: 2", "law: set, to: 2"])
    holds = random.sample(["hold_down: 2 s", "hold_up: 2 s", "cooldown: 1 s", "lands: 1 s"], random.choice([0, 1, 1]))
    times = [f"period: {random.choice([1, 1, 2])} s", *random.choice([["phase: 0 s"], ["phase: 0 s"], []]), *holds]
    rates = ["{by: 1, per: 1 s}", "{by: 1, per: 2 s, way: up}", "{by: 2, per: 3 s, way: down}"]
    rate = random.choice(["", *(f", rate: [{one}]" for one in rates)])
    rank = random.choice(["", f"rank: {random.randint(1, 3)}, "])
    bounds = f"bounds: [{random.choice([0, 0, 1])}, {random.choice([3, 5])}], from: 1"
    head = f"  {name}: {{{rank}timescale: {{{', '.join(times)}}}, trigger: '{random.choice(conditions)}', "
    return f"{head}actuation: {{signal: out.u, {write}, {bounds}{rate}}}}}"


def plant_loop(random: Random, name: str) -> str:
    """Returns one loop that writes out.u from what it reads of x."""
    low, high = random.randint(-2, 5), random.randint(3, 9)
    late = random.choice(["x", "x", "x", "delayed(x, 1 s)", "delayed(x, 2 s)"])
    streak = random.choice(["", "", "", " for 1 s", " for 2 s", " for 3 s"])
    conditions = [f"{late} >= {high}{streak}", f"{late} <= {low}{streak}", f"{late} > {low} and out.u < {high}"]
    condition, other = random.sample(conditions, 2)
    amount = random.choice(["1", "2", "-1", "-2", "0.5"])
    times = [f"period: {random.choice(['1 s', '1 s', '2 s', '3 s'])}"]
    times += [f"phase: {random.choice(['0 s', '500 ms'])}"] if random.random() < 0.6 else []
    options = [f"cooldown: {random.choice([1, 2, 3])} s", "lands: 1 s", "hold_down: 2 s", "hold_up: 3 s"]
    times += random.sample(options, random.choice([0, 0, 0, 1, 1, 2]))
    limits = random.choice(["", "", ", rate: [{by: 1, per: 1 s}]", ", rate: [{by: 2, per: 3 s, way: up}]"])
    rank = random.choice(["", "", f"rank: {random.randint(1, 2)}, "])
    head = f"  {name}: {{{rank}timescale: {{{', '.join(times)}}}, "
    tail = f"bounds: [0, {random.choice([3, 5, 8])}], from: {'0'}{limits}}}}}"
    shape = random.choice(["step", "step", "set", "rules", "relay"])
    if shape == "rules":
        rules = f"rules: [{{when: '{condition}', by: {amount}}}, {{when: '{other}', by: {random.choice(['1', '-1'])}}}]"
        return f"{head}{rules}, actuation: {{signal: out.u, {tail}"
    trigger = f"{{enter: 'x >= {high}', leave: 'x <= {low}'}}" if shape == "relay" else f"'{condition}'"
    write = (
        WRITES["set"].format(random.choice(["2", "'3 - x / 2'", "0"]))
        if shape == "set"
        else WRITES["step"].format(amount)
    )
    return f"{head}trigger: {trigger}, actuation: {{signal: out.u, {write}, {tail}"


def promise_near(random: Random, kind: str, values: list[Fraction]) -> str:
    """Returns a promise whose threshold lies at, or beside, an extreme of what runs reached."""
    most, least = max(values), min(values)
    if kind == "response":
        asks, answers = (Fraction(round(random.choice(values) * 4), 4) for _ in "ab")
        within = random.choice([0, 1, 2, 3, 5, 8])
        ways = random.choice([">=", "<="]), random.choice(["<", ">"])
        return f"after x {ways[0]} {float(asks)} then x {ways[1]} {float(answers)} within {within} s"
    edge, side = random.choice([(most, "<="), (most, "<"), (least, ">="), (least, ">")])
    limit = edge + Fraction(random.choice([0, 0, 4, -4, 1, -1]), 4)
    limit = Fraction(round(limit * 64), 64)
    streak = random.choice(["", "", "", " for 2 s"]) if kind != "always" else ""
    if kind == "never":
        side = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}[side]
    return f"{kind} {random.choice(['x'])} {side} {float(limit)}{streak}"
