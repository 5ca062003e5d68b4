"""Mail: mailboxes, messages, their text, threads and calendar parts."""
