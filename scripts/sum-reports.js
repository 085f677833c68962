// Sums the test runner's JSON reports of a folder and prints: passed failed skipped
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2];
let passed = 0;
let failed = 0;
let skipped = 0;
for (const name of readdirSync(folder)) {
  if (!name.endsWith('.json')) continue;
  const report = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  passed += report.numPassedTests;
  // A file that could not be run has no tests to count, and is no success.
  failed += report.numFailedTests + report.numRuntimeErrorTestSuites;
  skipped += report.numPendingTests + report.numTodoTests;
}
console.log(passed, failed, skipped);
