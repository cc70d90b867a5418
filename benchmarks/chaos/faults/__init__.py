"""The faults of a run: in the network, in processes, in Slack. And bugs that are added to the product on
purpose.
"""
