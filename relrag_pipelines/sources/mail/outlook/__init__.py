"""Outlook's own formats: .msg files, winmail.dat and their contents."""
