"""plate-spinner: another monitor whose wrappers and hooks send events to `POST /events`. Pure."""
