import { visible } from '../../lock/visible.js';

/** Text that is HTML already. Only `html` makes it, so that nothing gets into a page unescaped. */
export class Html {
  constructor(readonly text: string) {}
}

/** undefined stands for nothing. */
export type HtmlPart = Html | string | number | bigint | undefined | readonly HtmlPart[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A page, or a part of one. What stands in `${}` is text: keys, labels and hosts are whatever somebody wrote into ZooKeeper. */
export function html(pieces: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(pieces.map((piece, index) => piece + textOf(parts[index])).join(''));
}

function textOf(part: HtmlPart): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return escaped(String(part));
}

function escaped(text: string): string {
  return visible(text).replace(/[&<>"']/g, (one) => ENTITIES[one]!);
}
