"""From hits to an answer: lists, quoted sentences, or a text written by a model."""
