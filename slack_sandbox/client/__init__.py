"""Python clients for tests: act as a person in the local Slack, and read what is shown."""
