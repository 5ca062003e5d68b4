"""Commands that the pages start: `relrag sync` and others, each a process of its own, one at a time.

The process outlasts the server, holds the writer's lock like any command, and leaves its state and output in private/.
So every process of the server, and the next server, can show how far it is. See docs/adr/0055-pages-start-commands.md.
"""

from relrag_query.jobs.job import Job, JobState, load
from relrag_query.jobs.launch import JobRuns, cancel, start

__all__ = ["Job", "JobRuns", "JobState", "cancel", "load", "start"]
