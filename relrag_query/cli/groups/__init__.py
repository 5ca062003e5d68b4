"""The commands with their options and help texts; `commands` implements them."""
