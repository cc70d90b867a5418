"""`make bench`: speed and size. Each figure is compared with a floor that is measured in the same run."""
