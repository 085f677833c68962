import { eventually } from '../process/eventually.js';
import { sendToParent } from '../process/parent.js';
import { nativePackage } from './package-is-there.js';
import { RecordingClient, scriptedPackage } from './scripted-package.js';

/** Uses the package in a thread in which it fails once, on its own, while it has a connection. */
const [connect = ''] = process.argv.slice(2);

const packagePath = scriptedPackage(`
const { existsSync, writeFileSync } = require('node:fs');
const found = require(${JSON.stringify(nativePackage())});
module.exports = class extends (found.default ?? found) {
  on(event, listener) {
    if (event !== 'connect') return super.on(event, listener);
    return super.on(event, (...args) => {
      listener(...args);
      if (existsSync(__filename + '.failed')) return;
      writeFileSync(__filename + '.failed', '');
      setTimeout(() => { throw new Error('inside the package'); }, 20);
    });
  }
};`);
const failing = new RecordingClient(packagePath, connect);
await eventually('it has failed', () => failing.told.includes('down'));
const next = new RecordingClient(packagePath, connect);
await eventually('the next one is up', () => next.told.includes('up'));
await sendToParent({ type: 'told', told: failing.told, causes: failing.causes.map(({ message }) => message) });
process.exit(0);
