"""What `headspace top` shows, as lines of texts with roles. Pure: no widget, no clock, no I/O."""
