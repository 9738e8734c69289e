"""Storage: the event log and the projections that follow from it, written in the same transaction.

`sql` is the journal, made of `reader`, `writer`, `search`, `prune` and `tokens`; it rebuilds the projections from the
log. `schema` defines the tables of both databases, `rows` converts domain objects to rows and inserts them,
`migrations` is the history of the schema.
"""
