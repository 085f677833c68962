import { createHash } from 'node:crypto';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';

export interface Asset {
  readonly type: string;
  readonly text: string;
  /** The hash of its text is a part of it: so browsers may keep what they have for ever, and see a new version at once. */
  readonly name: string;
}

const ASSETS: readonly Asset[] = [
  asset('dashboard', 'css', 'text/css; charset=utf-8', STYLE),
  asset('dashboard', 'js', 'text/javascript; charset=utf-8', SCRIPT),
];

/** Relative to every page. */
export const [STYLE_ADDRESS, SCRIPT_ADDRESS] = ASSETS.map(({ name }) => `assets/${name}`) as [string, string];

/**
 * The file of this name, and whether it is exactly that one. While a fleet is being updated, a page of one instance asks another one
 * for its files: that is given what there is.
 */
export function assetNamed(name: string): { readonly asset: Asset; readonly isExact: boolean } | undefined {
  const ending = name.slice(name.lastIndexOf('.'));
  const found = name.startsWith('dashboard-') ? ASSETS.find((one) => one.name.endsWith(ending)) : undefined;
  return found === undefined ? undefined : { asset: found, isExact: found.name === name };
}

function asset(name: string, ending: string, type: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { type, text, name: `${name}-${hash}.${ending}` };
}
