"""The command line. `commands` lists every CLI command, `lazy` loads the module of a command when it is invoked.

Command modules read options, call the daemon and print. `presentation` turns JSON into lines without I/O, and `output`
is the only module that writes to the terminal. `main` adds the commands that need the daemon or the journal themselves.
"""
