"""From the lake to a published generation."""
