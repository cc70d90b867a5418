"""What goes wrong: on the network, with the processes, in Slack, and on purpose in the product."""
