"""Personal names: as they are written, in several scripts, inflected, and shortened."""
