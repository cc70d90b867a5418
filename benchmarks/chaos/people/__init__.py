"""People at a chat: they see cards, press buttons, fill in forms, and answer what is in doubt."""
