#!/usr/bin/env bash
# The `volley` of a page's shell: sends its words, folder, variables and input to a process that runs the command, each
# as a line in base64. The answer is the exit code and the length of standard error, and then both outputs. A Node that
# does this takes ten times the processor time.
exec 3<>"/dev/tcp/127.0.0.1/$1"
shift
line() { base64 | tr -d '\n' && echo; }
{
  (for word; do printf '%s\0' "$word"; done) | line
  pwd | line
  env -0 | line
  line
} >&3
read -r code length <&3
head -c "$length" <&3 >&2
cat <&3
exit "$code"
