# Sourced by .ci/run and scripts/test-full: named steps, test suites whose reports are summed, and one verdict.

reports=$(mktemp -d "${TMPDIR:-/tmp}/test-reports.XXXXXX")
trap 'rm -rf "$reports"' EXIT
# A line for each step that failed, and for each suite that this machine cannot run: steps may run beside one another.
failed_steps=$reports/failed-steps
suites_not_run=$reports/suites-not-run
touch "$failed_steps" "$suites_not_run"

# step <name> <command...>: runs it, remembers its failure, goes on.
step() {
  local name=$1 started=$SECONDS
  shift
  echo "== $name: $*"
  if "$@"; then
    echo "== $name: done in $((SECONDS - started)) s"
  else
    local status=$?
    echo "== $name: FAILED (exit status $status) after $((SECONDS - started)) s"
    echo "$name" >> "$failed_steps"
    return "$status"
  fi
}

# suite <name> <command...>: a step that runs tests; the command must pass further arguments on to the test runner.
suite() {
  local name=$1 started=$SECONDS status=0
  shift
  echo "== $name: $*"
  "$@" --ci --json --outputFile="$reports/$name.json" || status=$?
  # The status by which scripts/testcontainers says that the machine cannot do it; it has printed the reason.
  if [ "$status" -eq 75 ]; then
    echo "== $name: not run"
    echo "$name" >> "$suites_not_run"
    return
  fi
  echo "== $name: exit status $status after $((SECONDS - started)) s"
  if [ "$status" -ne 0 ] || [ ! -s "$reports/$name.json" ]; then echo "$name" >> "$failed_steps"; fi
}

# beside <name> <command...>: begins it while the steps behind it run.
declare -A running=()
beside() {
  local name=$1
  shift
  "$@" > "$reports/$name.log" 2>&1 &
  running[$name]=$!
}

# ended <name>: waits for it, and prints what it has printed.
ended() {
  wait "${running[$1]}"
  cat "$reports/$1.log"
}

# verdict [--all-must-run]: prints the summary, its last line made of the runner's own reports, and ends with the exit status.
verdict() {
  local passed failed skipped status=0
  read -r passed failed skipped < <(node scripts/sum-reports.js "$reports")
  if [ -s "$suites_not_run" ]; then
    echo "not run:" $(cat "$suites_not_run")
    if [ "${1:-}" = --all-must-run ]; then status=1; fi
  fi
  if [ "$skipped" -gt 0 ]; then
    echo "$skipped skipped (no test may be skipped)"
    status=1
  fi
  if [ "$passed" -eq 0 ]; then
    echo "no test has run"
    status=1
  fi
  if [ "$failed" -gt 0 ]; then status=1; fi
  if [ -s "$failed_steps" ]; then
    echo "failed:" $(cat "$failed_steps")
    status=1
  fi
  echo "$passed passed, $failed failed"
  exit "$status"
}
