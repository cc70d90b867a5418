"""What happened, chained by hash: entries, anchors over them, and whether they are still whole."""
