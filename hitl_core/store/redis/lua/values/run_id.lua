-- Returns the `run_id` of the server, or "". A proxy that answers INFO itself names one of its own.
return server_run_id()
