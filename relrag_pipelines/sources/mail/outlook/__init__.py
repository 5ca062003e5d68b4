"""Outlook's own formats: .msg files, winmail.dat and what lies in them."""
