"""The commands of the Unix socket."""
