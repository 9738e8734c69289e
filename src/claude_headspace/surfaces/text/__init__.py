"""Text that every surface shows: labels, timestamps, settings."""
