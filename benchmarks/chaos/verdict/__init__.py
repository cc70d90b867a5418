"""What the witnesses saw, compared with what Redis has and what the cards show."""
