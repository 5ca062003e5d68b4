"""Questions about people whose right answers somebody read, and how many of them an archive answers."""
