"""Receives and observes events, and wraps them in envelopes."""
