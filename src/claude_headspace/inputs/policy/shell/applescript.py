"""The script that `osascript` runs. It is added to the findings as arguments, so that messages in it are found.

Rules
- The script is the value of `-e`, a file, or standard input. Words after the file are its arguments, also options.
- A script that cannot be read beforehand is `UNKNOWN`.
- Long scripts are split: rules see only the beginning and the end of a long argument.
"""

from claude_headspace.inputs.policy.shell.findings import Findings, Flow
from claude_headspace.inputs.policy.shell.interpreter import Shell
from claude_headspace.inputs.policy.shell.markers import unmark
from claude_headspace.kernel.policy.call import UNKNOWN, Program

MAX_SCRIPT_CHARS = 20_000
"""A longer script counts as unknown."""
PIECE_CHARS = 1_000
OVERLAP_CHARS = 200
"""Pieces of a long line overlap, so that no name is cut in all of them."""
STDIN = ("-", "/dev/stdin", "/dev/fd/0")


def find_script(shell: Shell, arguments: list[str], stdin: Flow) -> str:
    """Return the script that these arguments of `osascript` run."""
    lines, rest = list[str](), [unmark(word) for word in arguments]
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        if option == "--":
            break
        letter = next((each for each in option[1:] if each in "els"), "")
        if letter:
            value = option.partition(letter)[2] or (rest.pop(0) if rest else "")
            lines += [value] if letter == "e" else []
    if lines:
        return "\n".join(lines)
    if not rest or rest[0] in STDIN:
        return stdin.text
    text, _ = shell.read_content(rest[0])
    return UNKNOWN if text is None else text


def record_script(findings: Findings, script: str) -> None:
    """Add a script of `osascript` to the programs."""
    if len(script) > MAX_SCRIPT_CHARS:
        script = UNKNOWN
    if script.strip():
        pieces = [piece for line in script.splitlines() for piece in _split(line.strip())]
        findings.programs.append(Program("osascript", ("-e", *pieces)))


def _split(line: str) -> list[str]:
    step = PIECE_CHARS - OVERLAP_CHARS
    return [line[start : start + PIECE_CHARS] for start in range(0, max(len(line) - OVERLAP_CHARS, 1), step)]
