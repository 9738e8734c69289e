"""The home directory of the corpus: a project with links and scripts, and contacts."""

from pathlib import Path

import pytest

from claude_headspace.config import Paths
from claude_headspace.inputs.policy.files import RuleBook, load_rules

CONTACTS = """
[[contact]]
name = "Ada"
addresses = ["ada@example.org"]
tags = ["claude_direct"]

[[contact]]
name = "Bob"
addresses = ["bob@example.org"]
tags = ["claude_draft"]

[[contact]]
name = "Carol"
addresses = ["carol@example.org"]
"""

FILES = {
    "app/wipe.sh": "#!/bin/bash\ncd /\nrm -rf *\n",
    "app/wipe.py": "#!/usr/bin/env python3\nimport shutil\nshutil.rmtree('/')\n",
    "app/tidy.sh": '#!/bin/bash\nset -e\nrm -rf "$1" build dist\nrm -rf "$OUT"\n',
    "app/needs-root.sh": "#!/bin/sh\nsudo apt-get update\n",
    "app/scripts/build.sh": "#!/bin/sh\nnpm run build\n",
    "app/config/keep": "",
    "app/build/keep": "",
    "app/secrets/.env": "KEY=1\n",
    "app/.env": "KEY=1\n",
    ".ssh/id_rsa": "",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home directory with the project `app`."""
    home = tmp_path / "dev"
    for name, text in FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    (home / "app/link-to-etc").symlink_to("/etc")
    return home


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A configuration directory with contacts."""
    root = tmp_path / "headspace"
    root.mkdir()
    (root / "contacts.toml").write_text(CONTACTS, encoding="utf-8")
    return Paths(root, root, root, root / "run")


@pytest.fixture
def book(paths: Paths) -> RuleBook:
    """The built-in rules."""
    return load_rules(paths, "guard")
