"""`make bench`: how fast and how small it is, each figure beside a floor that is measured in the same run."""
