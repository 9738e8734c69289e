"""Claude OS: session context and session notices. Pure. Sessions that do not use Claude OS are not affected.

context_files   the files that a new context window starts with, within a size limit
session_notice  the texts that a session received with the reply to a hook, stored with the event
notices         which notice a session receives and when: context usage, a request for a note
messages        the texts
"""
