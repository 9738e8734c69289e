"""Programs that talk to the daemon: the API client, the socket client, and checks that use them."""
