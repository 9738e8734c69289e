"""The HTTP endpoints, one module per subject: request bodies, handlers and a table of endpoints."""
