"""The simulated sessions of all clients besides Claude Code, by name of the client. Pure."""

from claude_headspace.clients.codex.simulation import CodexSession
from claude_headspace.clients.copilot.simulation import CopilotSession
from claude_headspace.clients.gemini.simulation import GeminiSession
from claude_headspace.clients.opencode.simulation import OpencodeSession
from claude_headspace.clients.simulation import ToldSession

SIMULATIONS: dict[str, type[ToldSession]] = {
    each.client: each for each in (CodexSession, OpencodeSession, CopilotSession, GeminiSession)
}
