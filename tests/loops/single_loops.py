"""Draws designs of one loop (or two) over a plant that it feels: levels, flows, pools and their delays."""

from __future__ import annotations

from random import Random

HEAD = "coherence: 1\ncomponents:\n"


def pool(random: Random) -> str:
    """Returns an autoscaler over a load that its members share."""
    load = random.choice([37, 100, 450])
    late = random.choice(["", "", "15 s", "30 s", "45 s"])
    usage = f"delayed(web.usage, {late})" if late else "web.usage"
    tolerance = random.choice(["", "", ", tolerance: 10 %", ", tolerance: 0 %"])
    times = ["period: " + random.choice(["15 s", "30 s"]), "phase: 0 s"]
    times += random.sample([random.choice(["lands: 15 s", "lands: 40 s"]), "hold_down: 45 s", "cooldown: 30 s"], random.choice([0, 0, 1, 1, 2]))
    setpoint = random.choice(["0.5", "30", "7"])
    spread = random.choice(["[1, 1000]", "[1, 60]", "[1, 9]"])
    kind = random.choice(["", "", "ready: \"min(web.n, delayed(web.n, 30 s))\", "])
    shared = "ready" if kind else "n"
    return (
        f"{HEAD}  web: {{load: {load}, {kind}usage: load / web.{shared}}}\nloops:\n  hpa:\n"
        f"    timescale: {{{', '.join(times)}}}\n"
        f'    target: {{signal: "{usage}", setpoint: {setpoint}{tolerance}}}\n'
        f"    actuation: {{signal: web.n, law: proportional, bounds: {spread}, from: {random.choice([2, 5, 9])}}}\n"
    )


def level(random: Random) -> str:
    """Returns a law over a plant that moves in steps."""
    pull = random.choice(["0.5", "0.75", "0.9", "1", "-0.5"])
    gain = random.choice(["0.1", "0.25", "0.5", "0.9", "1.25", "2"])
    late = random.choice(["tank.x", "tank.x", "delayed(tank.x, 1 s)", "delayed(tank.x, 3 s)"])
    law = f"{random.choice(['1', '3'])} - {gain} * ({late} - {random.choice(['2', '4', '10'])})"
    law = random.choice([law, law, f"max({law}, 0.5 * {late})", f"min({law}, 4)", f"0.1 * {late} * {late}"])
    step = random.choice(["1 s", "1 s", "2 s", "500 ms"])
    times = ["period: " + random.choice(["1 s", "1 s", "2 s", "3 s"]), "phase: 0 s"]
    times += random.sample(["lands: 1 s", "lands: 2500 ms", "cooldown: 2 s"], random.choice([0, 0, 0, 1]))
    spread = random.choice(["[-1000, 1000]", "[-1000, 1000]", "[0, 8]"])
    return (
        f"{HEAD}  tank: {{state: \"x' = {pull} * x + 0.5 * valve.open\", step: {step}, from: {random.choice([0, 1, 3])}}}\n"
        f"loops:\n  ctl:\n    timescale: {{{', '.join(times)}}}\n    trigger: always\n"
        f'    actuation: {{signal: valve.open, law: set, to: "{law}", bounds: {spread}, from: {random.choice([0, 2])}}}\n'
    )


def flow(random: Random) -> str:
    """Returns a law over a level that integrates, or a room that cools."""
    gain = random.choice(["0.1", "0.3", "0.7", "1.1", "2"])
    plant = random.choice(["(1 - 0.5 * valve.open) / 1 s", "(4 - x - 0.5 * valve.open) / 5 s", "(2 - valve.open) / 3 s"])
    late = random.choice(["tank.x", "tank.x", "delayed(tank.x, 1 s)", "delayed(tank.x, 3 s)"])
    law = f"2 + {gain} * ({late} - 3)"
    law = random.choice([law, law, f"max({law}, 0.1 * {late})", f"0.08 * {late} * {late}"])
    times = ["period: " + random.choice(["1 s", "2 s"]), "phase: 0 s"]
    times += random.sample(["lands: 1 s", "lands: 2500 ms"], random.choice([0, 0, 0, 1]))
    spread = random.choice(["[-1000, 1000]", "[0, 100]", "[0, 5]"])
    return (
        f"{HEAD}  tank: {{state: \"x' = {plant}\", from: {random.choice(['2.5', '3', '4.9'])}}}\n"
        f"loops:\n  ctl:\n    timescale: {{{', '.join(times)}}}\n    trigger: always\n"
        f'    actuation: {{signal: valve.open, law: set, to: "{law}", bounds: {spread}, from: 2}}\n'
    )


def switch(random: Random) -> str:
    """Returns rules or a relay over a plant that moves in steps."""
    low, high = random.randint(1, 4), random.randint(3, 8)
    late = random.choice(["tank.x", "tank.x", "delayed(tank.x, 1 s)", "delayed(tank.x, 2 s)"])
    times = ["period: " + random.choice(["1 s", "1 s", "2 s"]), "phase: 0 s"]
    times += random.sample(["lands: 1 s", "cooldown: 2 s", "hold_down: 2 s"], random.choice([0, 0, 1]))
    acts = random.choice([
        f'    rules: [{{when: "{late} < {low}", by: 1}}, {{when: "{late} > {high}", by: -1}}]\n'
        f"    actuation: {{signal: valve.open, bounds: [0, 6], from: 1}}\n",
        f'    trigger: {{enter: "{late} >= {max(low, high)}", leave: "{late} <= {min(low, high)}"}}\n'
        f"    actuation: {{signal: valve.open, law: step, by: {random.choice(['-1', '1', '2'])}, bounds: [0, 6], from: 1}}\n",
    ])
    plant = random.choice(["0.5 * x + valve.open", "0.75 * x + valve.open", "x + valve.open - 2", "max(0, x + 3 - valve.open)"])
    return (
        f"{HEAD}  tank: {{state: \"x' = {plant}\", step: {random.choice(['1 s', '2 s'])}, from: {random.choice([0, 3])}}}\n"
        f"loops:\n  ctl:\n    timescale: {{{', '.join(times)}}}\n{acts}"
    )


FAMILIES = (pool, level, flow, switch)
