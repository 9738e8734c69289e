"""Shell texts for soaks: generated from a grammar, nested, cut off, and huge. Deterministic."""

import random
from collections.abc import Iterator

GRAMMAR: dict[str, tuple[str, ...]] = {
    "list": ("{command}", "{command}; {list}", "{command} && {list}", "{command} | {command}", "{compound}"),
    "command": ("{program} {word} {word}", "{name}={word}", "{program} {word} > {word}", "{wrapper} {command}"),
    "program": ("rm -rf", "echo", "cat", "cp", "printf", "git", "{word}", "find", "curl", "kill", "eval", "sed -i"),
    "wrapper": ("sudo", "env A=1", "timeout 5", "xargs", "nohup", "bash -c '{list}' #", "xargs -I{{}} sh -c '{{}}' #"),
    "compound": (
        "for {name} in {word} {{1..99}} {word}; do {list}; done",
        "while read {name}; do {list}; done",
        "if {command}; then {list}; else {list}; fi",
        "{name}() {{ {list}; }}; {name}",
        "case {word} in *) {list};; esac",
        "( {list} )",
        "cat <<EOF | sh\n{list}\nEOF\n",
        "python3 -c 'import os; os.system(\"{command}\")'",
    ),
    "word": (
        "~",
        "/etc",
        "$x",
        '"${{y:-{word}}}"',
        "$({list})",
        "`{command}`",
        "*",
        "{{a,{word}}}",
        "é",
        "$((1+{name}))",
    ),
    "name": ("x", "y", "f", "g"),
}
NOISE = ("${", "@(a=", "*| ", "((*", "<<A ", "=(", "'", '"', "`", "$(", "{", "\\", "\0", "\ue000", "[[ ", "a[", "| !")
HUGE = (
    "for a in {1..9}; do " * 9 + "echo $a;" + " done;" * 9,
    "x=ab;" + "x=$x$x;" * 40,
    "echo a;" * 30_000,
    "${" * 20_000,
    "@(a=" * 10_000,
    "a[ " * 10_000,
    "(" * 50_000,
    "python3 -c '" + "x=x+x\n" * 200 + "'",
    "python3 -c 'a" + ".b()" * 8_000 + "'",
    "perl -e '" + "open(" * 5_000 + "'",
    "printf '%s\\n' " + "a " * 4_000 + "| xargs -I{} sh -c 'rm -rf x{}'",
    "rm " + "{a,b}" * 200,
    "echo ${x:" + "9" * 5_000 + "}",
    "ls " + "/*" * 200,
    "cat <<EOF\n" + "$x $(y) " * 9_000 + "\nEOF\n",
)


def generate(count: int, seed: int = 1) -> Iterator[str]:
    """Return shell texts: one third valid, one third cut off or mixed with noise, some of them huge."""
    source = random.Random(seed)
    for number in range(count):
        text = _expand("list", source, depth=source.randint(2, 9))
        if number % 3 == 1:
            position = source.randrange(len(text) + 1)
            text = text[:position] + source.choice(NOISE) * source.randint(1, 60) + text[position:]
        elif number % 3 == 2:
            text = text[: source.randrange(len(text) + 1)] * source.randint(1, 12)
        yield HUGE[number // 25 % len(HUGE)] + text if number % 25 == 0 else text[:100_000]


def _expand(symbol: str, source: random.Random, depth: int) -> str:
    """Expand a symbol of the grammar. At depth 0 the first and shortest alternative is used."""
    choices = GRAMMAR[symbol]
    text = source.choice(choices) if depth > 0 else choices[0] if symbol != "wrapper" else "nohup"
    parts: list[str] = []
    while "{" in text:
        before, _, rest = text.partition("{")
        parts.append(before)
        if rest.startswith("{"):
            parts.append("{")
            text = rest[1:]
            continue
        name, _, text = rest.partition("}")
        parts.append(_expand(name, source, depth - 1))
    return "".join([*parts, text]).replace("}}", "}")
