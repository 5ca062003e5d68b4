#!/bin/sh
# Deletes builds older than ten days on the test server; runs every Friday at noon.
set -eu
BUILDS="${BUILDS:-/srv/test/builds}"
KEEP_DAYS=10

find "$BUILDS" -mindepth 1 -maxdepth 1 -type d -mtime "+$KEEP_DAYS" -print -exec rm -rf {} +
