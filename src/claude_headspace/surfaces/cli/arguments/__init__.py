"""The command line: parameters of commands, parsing, help and shell completion. Imports only what every start needs."""
