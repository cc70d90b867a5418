"""The demo's agent: a support desk for a small shop. Its tools really change things on this machine."""
