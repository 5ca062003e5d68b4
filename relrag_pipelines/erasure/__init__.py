"""What the owner wants gone: rules that keep it out (rules), its removal (purge), the proof of that (verification)."""
