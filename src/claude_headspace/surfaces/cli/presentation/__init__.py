"""What the commands print, as lines. Pure: data and the time in, lines out."""
