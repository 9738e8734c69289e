"""What an agent changed: edits of files as tool calls and git report them, and the diffs assembled from them. Pure."""
