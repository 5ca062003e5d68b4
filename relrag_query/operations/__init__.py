"""What can be asked of an archive, declared once: API, OpenAPI, MCP tools and options of commands derive from it.

`parameters.py` declares what several operations take, `requests.py` what each takes, `table.py` the operations.
"""
