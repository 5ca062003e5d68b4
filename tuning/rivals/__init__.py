"""Passages that look alike and differ in what decides, with questions about them: whoever compares texts is tested so.

A line of `*.jsonl` is a group: `passages` (each with `subject` and `text`), and `questions` (each with `q`, `lang`, and
`answers`, the numbers of the passages that answer; none for a near miss). All of it is invented.
"""
