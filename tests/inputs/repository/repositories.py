"""Real git repositories for tests."""

import os
import subprocess
from pathlib import Path

IDENTITY = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org", "-c", "commit.gpgsign=false")


class Repository:
    """A repository with one commit at second 1000; commits and files get the times that a test gives."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.write("kept.txt", "a\nb\nc\n", at=1000)
        self.write("old.txt", "".join(f"line {number}\n" for number in range(20)), at=1000)
        self.first = self.commit("First", at=1000)

    def git(self, *arguments: str, at: int = 1000) -> str:
        """Run git."""
        date = f"@{at} +0000"
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root), "GIT_CONFIG_NOSYSTEM": "1"}
        env |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        done = subprocess.run(
            ["git", *IDENTITY, *arguments], cwd=self.root, env=env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def write(self, path: str, text: str | bytes, at: int) -> None:
        """Write a file, last modified at a time."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        os.utime(file, (at, at))

    def commit(self, subject: str, at: int) -> str:
        """Commit everything; the id of the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject, at=at)
        return self.git("rev-parse", "HEAD")
