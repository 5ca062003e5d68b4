"""The operations of an archive, declared once: API, OpenAPI, MCP tools and options of commands derive from them.

`parameters.py` declares shared parameters, `requests.py` the request of each operation, `table.py` the operations.
"""
