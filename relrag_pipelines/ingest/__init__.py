"""From the files of a source to its private records: what changed, which source owns it, what is removed."""
