"""`python -m claude_headspace` is `headspace`."""

from claude_headspace.main import main

main()
