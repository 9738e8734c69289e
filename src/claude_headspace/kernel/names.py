"""Suggest names for agents: two short words such as `calm-otter`. Pure.

The suggestions follow from the agent's id, so a replay gives the same ones. The first that is not in use becomes the
name. There are more than nine thousand pairs. After `PAIR_SUGGESTIONS` pairs the suggestions contain a number with
more and more digits, so that a free name is found in a few steps.
"""

import hashlib
import re
from collections.abc import Iterator
from itertools import count

ADJECTIVES = (
    "able amber apt azure bold brave brief bright brisk calm candid clear clever coral cosy crisp dapper deft eager "
    "early easy fair fleet fond frank fresh gentle glad golden grand happy hardy honest jolly keen kind lively loyal "
    "lucid mellow merry mild modest neat nimble noble olive patient plucky polite prime quick quiet rapid ready rosy "
    "sage sharp silver smart snug spry steady sunny swift tidy topaz true vivid warm wise witty young zesty"
).split()

ANIMALS = (
    "adder alpaca ant badger bat bear beaver bee bison boar bobcat buck camel cat civet cobra cod condor coot crab "
    "crane cricket crow deer dingo dove duck eagle eel egret elk emu falcon ferret finch fox frog gannet gecko gibbon "
    "goose grouse gull hare hawk heron hoopoe horse hound ibex ibis jackal jay kestrel kite kiwi koala lark lemur "
    "linnet lion llama lobster lynx magpie marten mink mole moose moth mouse newt ocelot octopus okapi orca oriole "
    "osprey otter owl panda parrot pelican perch pigeon pike plover pony puffin puma quail rabbit raven robin rook "
    "salmon seal shrew shrike sloth snipe sparrow squid stoat stork swan tapir tern thrush tiger toad trout "
    "turtle viper vole walrus wasp weasel whale wolf wombat wren yak zebra"
).split()

PAIR_SUGGESTIONS = 24
"""How many suggestions have no number."""
SUGGESTIONS_PER_LENGTH = 8
"""How many suggestions have a number of one digit, of two digits, and so on."""

VALID_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?")
"""A valid name of an agent, suggested or chosen by a person."""


def suggest_names(agent_id: str) -> Iterator[str]:
    """Suggest names for an agent, best first. The iterator never ends."""
    seed = int.from_bytes(hashlib.blake2b(agent_id.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    for step in range(PAIR_SUGGESTIONS):
        yield _pair(seed + step * 7919)
    for step in count():
        digits = 1 + step // SUGGESTIONS_PER_LENGTH
        yield f"{_pair(seed + step * 7919)}-{2 + (seed // 7919 + step * 104_729) % 10**digits}"


def _pair(index: int) -> str:
    index %= len(ADJECTIVES) * len(ANIMALS)
    return f"{ADJECTIVES[index // len(ANIMALS)]}-{ANIMALS[index % len(ANIMALS)]}"
