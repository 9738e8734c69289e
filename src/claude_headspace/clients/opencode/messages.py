"""Known texts of opencode: how the errors of calls begin that did not run."""

REJECTED = ("The user rejected permission", "The user dismissed this question")
"""A call that the user rejected. The turn ends, unless feedback follows."""
FEEDBACK = "with the following feedback: "
REFUSED = "The user has specified a rule which prevents"
"""A call that a rule of the user's settings denied."""
