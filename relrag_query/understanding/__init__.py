"""What a question asks for: intent, channels, time."""
