"""`make chaos`: real processes under faults, judged from records that the product does not write."""
