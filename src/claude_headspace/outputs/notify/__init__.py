"""Sending notifications: `notifier` executes the kernel's plans, `preferences` reads `notify.toml`, `channels` and
`desktop` deliver messages, `attention` tracks what people are looking at.
"""
