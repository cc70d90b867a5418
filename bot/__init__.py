"""The approval bot: an application beside the library `hitl_core`."""
