"""The content of `headspace top` as lines of text with roles. Pure: no widget, no clock, no I/O."""
