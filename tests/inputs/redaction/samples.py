"""Secrets for tests, made at run time from the examples of the rules. No file contains one."""

import random
import re
import string

ALPHABETS = {
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + "234567",
    "alnum": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "_-",
    "base64": string.ascii_letters + string.digits + "+/",
}

_PLACEHOLDER = re.compile("<(\\w+):([^>]+)>")


def expand(example: str, chance: random.Random) -> tuple[str, list[str]]:
    """An example with its placeholders filled in, and the secrets in it."""
    secrets = list[str]()

    def fill(found: re.Match[str]) -> str:
        kind, value = found[1], found[2]
        secrets.append(value if kind == "is" else _random(kind, int(value), chance))
        return secrets[-1]

    return _PLACEHOLDER.sub(fill, example), secrets


def _random(kind: str, length: int, chance: random.Random) -> str:
    """Random characters. The first and the last are letters or digits, and long ones have a digit."""
    characters = [chance.choice(ALPHABETS[kind]) for _ in range(length)]
    characters[0], characters[-1] = chance.choice("abcdef23"), chance.choice("abcdef23")
    if length > 6:
        characters[length // 2] = chance.choice("234567")
    text = "".join(characters)
    if kind == "digit":
        return text.translate(str.maketrans("abcdef", "234567"))
    return text.upper() if kind == "upper" else text
