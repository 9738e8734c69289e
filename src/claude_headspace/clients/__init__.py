"""One package per supported client. Only these packages know a client's formats."""
