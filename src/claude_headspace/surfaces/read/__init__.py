"""The read model: everything that the daemon's surfaces read from the journal, by subject, as views."""
