"""Starting programs: clients, the background daemon, the system service."""
