"""What the measures share: programs, a Redis, a Slack or a Teams with waiting reviews, requests, amounts."""
