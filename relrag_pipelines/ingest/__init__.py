"""From the files of a source to its private records: what changed, who owns it, what goes."""
