#!/bin/sh
# Prints the interpreter to use: the one named, or the first that is new enough.
# Version managers put names on the PATH that do not run, so each is tried; one of
# pyenv that is installed and not selected is found where it lies.

works() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

for name in ${1:-python3.11 python3.12 python3 python3.13 python3.14}; do
  for found in "$name" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/"$name"; do
    if works "$found"; then
      echo "$found"
      exit 0
    fi
  done
done
echo "No Python 3.11 or newer runs as '${1:-python3}'. Install one, or name another:" \
  "PYTHON=/path/to/python3.13 make ..." >&2
exit 1
