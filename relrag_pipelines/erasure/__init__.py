"""`relrag forget`: the rules that keep records out, their removal (purge), and the proof of it (verification)."""
