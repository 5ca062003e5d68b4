"""The archive as tools of a language model, by the Model Context Protocol."""
