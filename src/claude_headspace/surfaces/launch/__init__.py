"""Starts programs: clients, the background daemon and the system service."""
