"""The input box of a client, read from its screen. Pure. For code that types into the terminal of an agent."""

from claude_headspace.clients.claude_code.input_box import STASH_KEY, InputBox, is_client_command, read_input_box

__all__ = ["STASH_KEY", "InputBox", "is_client_command", "read_input_box"]
