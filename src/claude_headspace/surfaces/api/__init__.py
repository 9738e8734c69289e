"""The HTTP API: the table of endpoints with their handlers, and its OpenAPI description."""
