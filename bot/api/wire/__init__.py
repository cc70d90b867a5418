"""The wire format of the HTTP API: request and response models, the table of operations, the OpenAPI
document.

Public face: `requests`, `responses`, `operations.OPERATIONS`, `openapi.build_document`, `bodies`.
"""
