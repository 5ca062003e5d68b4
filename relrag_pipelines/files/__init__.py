"""Files on disk: what may be opened, how it is written, who may read it."""
