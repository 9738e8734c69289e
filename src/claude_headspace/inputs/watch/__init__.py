"""Events that the daemon finds by itself: transcripts, session registry, process table."""
