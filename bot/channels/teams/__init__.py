"""Microsoft Teams. `transport` talks with it: requests come in by `TeamsEndpoint`, checked by `Guard`."""
