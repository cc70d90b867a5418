"""The demo agent: a small support desk. Its tools really change files on this machine."""
