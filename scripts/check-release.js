import { readFileSync } from 'node:fs';

// node scripts/check-release.js v1.2.3 https://github.com/owner/name
//
// Refuses a release whose tag, package.json and CHANGELOG.md do not say the same. Prints what is wrong, and what to do.
const [tag, address] = process.argv.slice(2);
const { version, repository, scripts = {} } = JSON.parse(readFileSync('package.json', 'utf8'));
const changes = readFileSync('CHANGELOG.md', 'utf8');
const wrong = [];

if (tag !== `v${version}`)
  wrong.push(`The tag is ${tag}, but package.json has the version ${version}: tag v${version}.`);

const written = typeof repository === 'string' ? repository : (repository?.url ?? '');
if (address === undefined || written.replace(/^git\+/, '').replace(/\.git$/, '') !== address) {
  wrong.push(
    `package.json must have "repository": "git+${address}.git", not ${JSON.stringify(repository)}: the registry refuses ` +
      'provenance that names another one.',
  );
}
if (!changes.includes(`\n## ${version} `) && !changes.includes(`\n## ${version}\n`)) {
  wrong.push(`CHANGELOG.md has no section "## ${version}": give what is Unreleased this heading, with the date.`);
}
for (const name of ['preinstall', 'install', 'postinstall']) {
  if (name in scripts)
    wrong.push(`package.json must have no script "${name}": it would run wherever the package is installed.`);
}
for (const one of wrong) console.error(one);
process.exitCode = wrong.length === 0 ? 0 : 1;
