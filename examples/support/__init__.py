"""The demo agent: a small support desk whose tools really change things on this machine."""
