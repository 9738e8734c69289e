"""What is remembered: the log of events and, written in the same transaction, everything that follows from it.

`schema` is the one metadata for all engines, `sql` the journal on top of it, `rows` the translation between nouns and
rows, `replay` the way from the log back to the projections, `migrations` the schema's history.
"""
