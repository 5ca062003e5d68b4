"""What the kinds of chat exports share: one model of a conversation, its files, and JSON that is read as a stream."""
