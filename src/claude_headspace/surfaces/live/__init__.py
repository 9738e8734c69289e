"""Live updates: the event stream."""
