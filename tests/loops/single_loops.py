"""Draws designs of one loop over a plant that it feels: pools, levels that step or flow, switches; with delays."""

from __future__ import annotations

from random import Random

SET = '    trigger: always\n    actuation: {{signal: valve.open, law: set, to: "{}", bounds: {}, from: {}}}\n'


def pool(random: Random) -> str:
    """Returns an autoscaler over a load that its members share."""
    late = random.choice(["", "", "15 s", "30 s", "45 s"])
    usage = f"delayed(web.usage, {late})" if late else "web.usage"
    tolerance = random.choice(["", "", ", tolerance: 10 %", ", tolerance: 0 %"])
    lands = random.choice(["lands: 15 s", "lands: 40 s"])
    options = random.sample([lands, "hold_down: 45 s", "cooldown: 30 s"], random.choice([0, 0, 1, 1, 2]))
    ready = random.choice(["", "", 'ready: "min(web.n, delayed(web.n, 30 s))", '])
    component = f"  web: {{load: {random.choice([37, 100, 450])}, {ready}usage: load / {'ready' if ready else 'n'}}}\n"
    bounds, start = random.choice(["[1, 1000]", "[1, 60]", "[1, 9]"]), random.choice([2, 5, 9])
    acts = f'    target: {{signal: "{usage}", setpoint: {random.choice(["0.5", "30", "7"])}{tolerance}}}\n'
    acts += f"    actuation: {{signal: web.n, law: proportional, bounds: {bounds}, from: {start}}}\n"
    return _design(component, [random.choice(["15 s", "30 s"]), *options], acts)


def level(random: Random) -> str:
    """Returns a law over a plant that moves in steps."""
    pull = random.choice(["0.5", "0.75", "0.9", "1", "-0.5"])
    late = random.choice(["tank.x", "tank.x", "delayed(tank.x, 1 s)", "delayed(tank.x, 3 s)"])
    law = f"{random.choice(['1', '3'])} - {random.choice(['0.1', '0.25', '0.5', '0.9', '1.25', '2'])} * "
    law += f"({late} - {random.choice(['2', '4', '10'])})"
    law = random.choice([law, law, f"max({law}, 0.5 * {late})", f"min({law}, 4)", f"0.1 * {late} * {late}"])
    step, start = random.choice(["1 s", "1 s", "2 s", "500 ms"]), random.choice([0, 1, 3])
    component = f'  tank: {{state: "x\' = {pull} * x + 0.5 * valve.open", step: {step}, from: {start}}}\n'
    bounds = random.choice(["[-1000, 1000]", "[-1000, 1000]", "[0, 8]"])
    acts = SET.format(law, bounds, random.choice([0, 2]))
    options = random.sample(
        [random.choice(["lands: 1 s", "lands: 2500 ms"]), "cooldown: 2 s"], random.choice([0, 0, 1])
    )
    return _design(component, [random.choice(["1 s", "1 s", "2 s", "3 s"]), *options], acts)


def flow(random: Random) -> str:
    """Returns a law over a level that integrates, or a room that cools."""
    plant = random.choice(
        ["(1 - 0.5 * valve.open) / 1 s", "(4 - x - 0.5 * valve.open) / 5 s", "(2 - valve.open) / 3 s"]
    )
    late = random.choice(["tank.x", "tank.x", "delayed(tank.x, 1 s)", "delayed(tank.x, 3 s)"])
    law = f"2 + {random.choice(['0.1', '0.3', '0.7', '1.1', '2'])} * ({late} - 3)"
    law = random.choice([law, law, f"max({law}, 0.1 * {late})", f"0.08 * {late} * {late}"])
    component = f'  tank: {{state: "x\' = {plant}", from: {random.choice(["2.5", "3", "4.9"])}}}\n'
    acts = SET.format(law, random.choice(["[-1000, 1000]", "[0, 100]", "[0, 5]"]), 2)
    lands = random.choice([[], [], ["lands: 1 s"], ["lands: 2500 ms"]])
    return _design(component, [random.choice(["1 s", "2 s"]), *lands], acts)


def switch(random: Random) -> str:
    """Returns rules or a relay over a plant that moves in steps."""
    low, high = sorted((random.randint(1, 4), random.randint(3, 8)))
    late = random.choice(["tank.x", "tank.x", "delayed(tank.x, 1 s)", "delayed(tank.x, 2 s)"])
    rules = f'    rules: [{{when: "{late} < {low}", by: 1}}, {{when: "{late} > {high}", by: -1}}]\n'
    rules += "    actuation: {signal: valve.open, bounds: [0, 6], from: 1}\n"
    relay = f'    trigger: {{enter: "{late} >= {high + 1}", leave: "{late} <= {low}"}}\n'
    by = random.choice(["-1", "1", "2"])
    relay += f"    actuation: {{signal: valve.open, law: step, by: {by}, bounds: [0, 6], from: 1}}\n"
    plant = random.choice(["0.5 * x + valve.open", "0.75 * x + valve.open", "max(0, x + 3 - valve.open)"])
    step, start = random.choice(["1 s", "2 s"]), random.choice([0, 3])
    component = f'  tank: {{state: "x\' = {plant}", step: {step}, from: {start}}}\n'
    options = random.choice([[], [], ["lands: 1 s"], ["cooldown: 2 s"], ["hold_down: 2 s"]])
    return _design(component, [random.choice(["1 s", "1 s", "2 s"]), *options], random.choice([rules, relay]))


def _design(component: str, times: list[str], acts: str) -> str:
    timescale = ", ".join([f"period: {times[0]}", "phase: 0 s", *times[1:]])
    return f"coherence: 1\ncomponents:\n{component}loops:\n  ctl:\n    timescale: {{{timescale}}}\n{acts}"


FAMILIES = (pool, level, flow, switch)
