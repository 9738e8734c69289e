"""The dashboard and the answer page."""
