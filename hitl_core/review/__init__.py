"""Review → Review: the rules as pure transitions, and the service that loads and commits."""
