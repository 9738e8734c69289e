"""Redaction: rules that find secrets in payloads, and the mark that replaces them."""
