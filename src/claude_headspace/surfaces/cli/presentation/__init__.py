"""The output of commands as lines. Pure functions of JSON and the current time."""
