"""Texts that several surfaces share: labels of agents, settings, times."""
