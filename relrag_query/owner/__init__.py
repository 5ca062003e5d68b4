"""What the archive's owner does on the pages: sources, uploads, syncs, people, forgetting.

Each function needs a service whose switch `web_writes_enabled` is on, and writes to the journal what it does. Programs
with a token, language models and the users of a team can call none of them.
"""
