"""The HTTP server: connections and their limits, bodies, probes, problems (RFC 9457), logging.

Public face: `server.open_server`, `application.make_app`, `body.read_body`, `problems.ApiProblem`, `logs`.
"""
