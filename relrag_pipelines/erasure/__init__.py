"""What the owner wants gone: rules that keep it out (rules), its removal (purge), and the proof of that (traces)."""
