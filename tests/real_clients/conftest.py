"""Runs all selected scenarios in parallel, as for Claude Code."""

from tests.real_client.conftest import results

__all__ = ["results"]
