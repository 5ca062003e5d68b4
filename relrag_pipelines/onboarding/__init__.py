"""Checks for `init` and `doctor`: exports in a folder, their owner, the machine, time and disk space."""
