"""The daemon: composition, serving, health."""
