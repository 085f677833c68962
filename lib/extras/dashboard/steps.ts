import type { DashboardOperation, DashboardSettings } from './dashboard-options.js';
import type { LiveLocks } from './live-locks.js';
import type { Done } from './done-notes.js';
import type { Allowed } from './pages/lock-page.js';
import { GRACES_SECONDS, type Step } from './pages/step-page.js';
import { Refusal } from './refusal.js';

const TYPES: readonly Step['type'][] = ['break', 'drain', 'clear'];
const TOKEN = /^\d{1,19}$/;
const MAX_LENGTH = 200;

/** Reads from the address of the page which step it asks for. @throws Refusal where it asks for nothing that there is */
export function readStep(parameters: URLSearchParams): Step {
  const type = TYPES.find((one) => one === parameters.get('do'));
  const key = readKey(parameters);
  const token = parameters.get('token') ?? '';
  if (type === undefined)
    throw new Refusal(400, 'Nothing to do', `The address must say do=${TYPES.join(', do= or ')}.`);
  if (type === 'drain') return { type, key, token: undefined };
  if (!TOKEN.test(token))
    throw new Refusal(400, 'Which holder?', 'The address must have the token of the holder that is meant.');
  return { type, key, token: BigInt(token) };
}

/** @throws Refusal where the address names no key */
export function readKey(parameters: URLSearchParams): string {
  const key = parameters.get('key') ?? '';
  if (key === '') throw new Refusal(400, 'Which lock?', 'The address must name a key.');
  return key;
}

/** Asks the application which steps the visitor may take, for the buttons. */
export async function allowedFor(settings: DashboardSettings, request: object, key: string): Promise<Allowed> {
  const answers = await Promise.all(TYPES.map(async (type) => settings.mayOperate(request, { type, key })));
  const [mayBreak, mayDrain, mayClear] = answers.map((answer) => answer === true) as [boolean, boolean, boolean];
  return { break: mayBreak, drain: mayDrain, clear: mayClear };
}

/** @throws Refusal where the visitor may not do it */
export async function checkAllowed(
  settings: DashboardSettings,
  request: object,
  step: DashboardOperation,
): Promise<void> {
  const { type, key } = step;
  // Anything else than true is a hook that forgot to answer.
  if ((await settings.mayOperate(request, { type, key })) === true) return;
  throw new Refusal(403, 'Not allowed', `You may look at this lock, and you may not ${type} it.`);
}

/** @returns what was done @throws Refusal for a form that is not filled in */
export async function takeStep(locks: LiveLocks, step: Step, by: string, form: URLSearchParams): Promise<Done> {
  const { type, key, token } = step;
  const reason = (form.get('reason') ?? '').trim();
  if (reason === '' || reason.length > MAX_LENGTH) {
    throw new Refusal(400, 'Why?', `Give a reason of 1 to ${MAX_LENGTH} characters. Nothing was done.`);
  }
  const why = { by: by.slice(0, MAX_LENGTH), reason };
  const doctor = await locks.doctor();
  try {
    switch (type) {
      case 'break': {
        const { ended } = await doctor.break(key, { ...why, token: token!, graceMs: graceMsIn(form) });
        return { what: ended };
      }
      case 'drain': {
        const { removed } = await doctor.drain(key, why);
        return { what: 'drained', count: removed };
      }
      case 'clear':
        await doctor.clear(key, { ...why, token: token! });
        return { what: 'cleared' };
    }
  } finally {
    locks.forget(key);
  }
}

function graceMsIn(form: URLSearchParams): number {
  const seconds = Number(form.get('grace') ?? Number.NaN);
  if (!GRACES_SECONDS.includes(seconds)) {
    throw new Refusal(400, 'How long?', `The holder may take ${GRACES_SECONDS.join(', ')} seconds. Nothing was done.`);
  }
  return seconds * 1_000;
}
