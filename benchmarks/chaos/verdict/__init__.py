"""The verdict: compares the journals of the bench with Redis and with the cards."""
