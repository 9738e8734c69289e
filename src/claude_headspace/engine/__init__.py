"""The pipeline: every event goes through it, from its envelope to its committed changes and the reply."""
