"""The people of a run: they see cards, press buttons, fill in forms, and answer for calls in doubt."""
