"""Storage: the event log and the projections that follow from it, written in the same transaction.

`sql` is the journal, made of `reader`, `writer`, `search`, `prune` and `tokens`. `schema` defines the tables of both
databases, `rows` converts domain objects to rows, `replay` derives the projections from the log, `migrations` is the
history of the schema.
"""
