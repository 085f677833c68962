import type { ProofStore, Shown, StoreSettings } from './proof-store.js';

/** Another service's resource (`http-service.ts`): its routes with `@RequireFence`, or those without. */
export function httpStore({ httpUrl, isGuarded }: StoreSettings): ProofStore {
  const url = `${httpUrl}/${isGuarded ? 'guarded' : 'open'}/http`;

  async function send(method: string, shown: Shown | undefined, text?: string): Promise<string> {
    const response = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', ...(shown && { 'fencing-token': shown.fencingToken }) },
      ...(text === undefined ? {} : { body: JSON.stringify({ text }) }),
    });
    const body = await response.text();
    if (response.ok) return body;
    const { code = `HTTP_${response.status}` } = JSON.parse(body) as { code?: string };
    throw Object.assign(new Error(body), { code });
  }

  return {
    name: 'http',
    claim: async (shown) => void (isGuarded && (await send('POST', shown))),
    read: async () => (JSON.parse(await send('GET', undefined)) as { text: string }).text,
    write: async (text, shown) => void (await send('PUT', shown, text)),
    close: async () => undefined,
  };
}
