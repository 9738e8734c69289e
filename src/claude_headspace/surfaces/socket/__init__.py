"""The socket commands: what programs send to the Unix socket."""
