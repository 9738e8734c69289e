"""Outputs: hook replies, held hooks, input to terminals, board displays and notifications."""
