"""Authentication: tokens, sign-in, answer links, and who sends a request."""
