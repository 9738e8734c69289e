"""Waits: the request to a person, its text and diff, forms, answers, and what an answer grants."""
