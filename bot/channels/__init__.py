"""One folder a channel. A channel never imports another."""
