"""`make bench`: how fast and how small it is. Each figure has a floor, measured in the same run."""
