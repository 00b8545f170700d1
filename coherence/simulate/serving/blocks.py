"""Manages the blocks of one server's cache: claims, releases, and what a free block still holds.

Without a prefix cache blocks are counted only.  With it, a full block keeps what it holds until it is claimed anew;
free blocks are claimed in the order in which they became free, and a request frees its last block first.
SOURCE: vLLM, docs/design/prefix_caching.md; v1/core/block_pool.py and v1/core/kv_cache_manager.py (behaviour).
"""

from __future__ import annotations

from coherence.simulate.requests.compiled import compiled
from coherence.simulate.serving.state import FREE, NONE, CopyState, Rules


@compiled
def blocks_for(rules: Rules, tokens: int) -> int:
    """Returns the blocks that hold so many tokens."""
    return (tokens + rules.block - 1) // rules.block


@compiled
def held_at(state: CopyState, request: int, place: int) -> int:
    """Returns the block that holds what a request has at a place (a block's number within it), or NONE."""
    if place < state.of.shared[request]:
        return int(state.where[state.names.names[state.of.named[request] + place]])
    entry = state.of.offset[request] + place
    block = state.names.table[entry]
    return int(block) if block != NONE and state.content[block] == len(state.where) + entry else NONE


@compiled
def unlink(state: CopyState, block: int) -> None:
    """Takes a block out of the ring of free ones."""
    state.after[state.before[block]] = state.after[block]
    state.before[state.after[block]] = state.before[block]
    state.count[FREE] -= 1


@compiled
def hits(rules: Rules, state: CopyState, request: int, tokens: int) -> int:
    """Returns how many full blocks at the head of a request are in the cache; its last token is always computed."""
    place = 0
    while place < (tokens - 1) // rules.block and held_at(state, request, place) != NONE:
        place += 1
    return place


@compiled
def unused(state: CopyState, request: int, places: int) -> int:
    """Returns how many of the blocks found at its first places nobody uses: they are among the free ones."""
    count = 0
    for place in range(places):
        if state.users[held_at(state, request, place)] == 0:
            count += 1
    return count


@compiled
def reuse(state: CopyState, request: int, places: int) -> None:
    """Lets a request use the blocks found at its first places."""
    for place in range(places):
        block = held_at(state, request, place)
        if state.users[block] == 0:
            unlink(state, block)
        state.users[block] += 1
        state.names.table[state.of.offset[request] + place] = block
    state.of.held[request] = places


@compiled
def claim(rules: Rules, state: CopyState, request: int, total: int) -> None:
    """Gives a request free blocks until it holds `total`; what they held is forgotten."""
    if not rules.caching:
        state.count[FREE] -= total - state.of.held[request]
        state.of.held[request] = total
        return
    for place in range(state.of.held[request], total):
        block = state.after[rules.blocks]
        unlink(state, block)
        name = state.content[block]
        if NONE < name < len(state.where):
            state.where[name] = NONE
        state.content[block] = NONE
        state.users[block] = 1
        state.names.table[state.of.offset[request] + place] = block
    state.of.held[request] = total


@compiled
def remember(rules: Rules, state: CopyState, request: int, before: int, after: int) -> None:
    """BlockNames the blocks that become full when a request's tokens grow from `before` to `after`."""
    for place in range(before // rules.block, after // rules.block):
        entry = state.of.offset[request] + place
        block = state.names.table[entry]
        if place >= state.of.shared[request]:
            state.content[block] = len(state.where) + entry
            continue
        name = state.names.names[state.of.named[request] + place]
        if state.where[name] == NONE:  # the block that was full first is found; another one holds it for itself
            state.where[name], state.content[block] = block, name


@compiled
def release(rules: Rules, state: CopyState, request: int) -> None:
    """Frees what a request holds."""
    if not rules.caching:
        state.count[FREE] += state.of.held[request]
        state.of.held[request] = 0
        return
    for place in range(state.of.held[request] - 1, -1, -1):
        block = state.names.table[state.of.offset[request] + place]
        state.users[block] -= 1
        if state.users[block] == 0:
            last = state.before[rules.blocks]
            state.before[block], state.after[block] = last, rules.blocks
            state.after[last], state.before[rules.blocks] = block, block
            state.count[FREE] += 1
    state.of.held[request] = 0
