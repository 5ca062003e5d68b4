"""File formats and encodings that several kinds of source share."""
