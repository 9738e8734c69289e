"""Calling people: `notifier` carries the kernel's plans out, `book` reads how the user wants to be called, `channels`
and `desktop` reach him, `attention` knows where he looks.
"""
