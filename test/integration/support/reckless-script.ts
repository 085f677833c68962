import { spawn } from 'node:child_process';
import { onParentMessage, sendToParent } from '../../support/process/parent.js';
import { killWithUs, removeWithUs } from '../../support/process/reaper.js';

/** Starts a process that would sleep for long, takes charge of a folder, and is killed before it cleans up. */
const sleeper = spawn('sleep', ['600'], { stdio: 'ignore' });
killWithUs(sleeper);
removeWithUs(process.argv[2] ?? '');
onParentMessage(() => undefined);
await sendToParent({ type: 'started', pid: sleeper.pid });
