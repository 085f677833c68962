import { readFileSync } from 'node:fs';
import type { RecordedFrame } from '../../../fixtures/frames/recording-connection.js';

const FILE = new URL('../../../fixtures/frames/frames.json', import.meta.url);
const recorded = JSON.parse(readFileSync(FILE, 'utf8')) as RecordedFrame[];

/** What a real server accepted and answered under this name; `test/fixtures/frames/record.ts` made it. */
export function recordedFrame(name: string): { request: Buffer; reply: Buffer; events: Buffer[] } {
  const frame = recorded.find((candidate) => candidate.name === name);
  if (frame === undefined) throw new Error(`No frame '${name}' was recorded.`);
  const fromHex = (hex: string) => Buffer.from(hex, 'hex');
  return { request: fromHex(frame.request), reply: fromHex(frame.reply), events: frame.events.map(fromHex) };
}
