"""Processes events: the writer decodes, judges and commits them in batches, and publishes the changes.

Hooks go through the pipeline, which ends with the reply. Everything else enters at the writer.
"""
