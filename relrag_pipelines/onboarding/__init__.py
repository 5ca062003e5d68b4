"""What `init` and `doctor` look at: exports in a folder, their owner, the machine, time and disk."""
