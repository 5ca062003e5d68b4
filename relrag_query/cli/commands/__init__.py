"""The commands, a module each: options, and what it does. What takes long to import is imported by its functions."""
