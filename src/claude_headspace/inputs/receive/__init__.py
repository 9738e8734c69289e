"""Events that are sent to the daemon: HTTP, spool and socket."""
