"""Code that talks to a daemon: HTTP client, socket client, diagnosis."""
