"""Changes in the workspace, with their events: people, groups, channels, App Home."""
