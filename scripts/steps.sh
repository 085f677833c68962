# Sourced by .ci/run and scripts/test-full: named steps, test suites whose reports are summed, and one verdict.

reports=$(mktemp -d "${TMPDIR:-/tmp}/test-reports.XXXXXX")
trap 'rm -rf "$reports"' EXIT
failed_steps=()
suites_not_run=0

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
    failed_steps+=("$name")
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
    suites_not_run=$((suites_not_run + 1))
    return
  fi
  echo "== $name: exit status $status after $((SECONDS - started)) s"
  if [ "$status" -ne 0 ] || [ ! -s "$reports/$name.json" ]; then failed_steps+=("$name"); fi
}

# verdict [--all-must-run]: prints the summary, its last line made of the runner's own reports, and ends with the exit status.
verdict() {
  local passed failed skipped status=0
  read -r passed failed skipped < <(node scripts/sum-reports.js "$reports")
  if [ "$suites_not_run" -gt 0 ]; then
    echo "$suites_not_run suite not run"
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
  if [ ${#failed_steps[@]} -gt 0 ]; then
    echo "failed: ${failed_steps[*]}"
    status=1
  fi
  echo "$passed passed, $failed failed"
  exit "$status"
}
