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

/**
 * Characters that nobody sees, and that change what is seen: controls, ends of lines, zero widths, and those that turn the direction of
 * writing, by which one key can look like another.
 */
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

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
  const visible = text.replace(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return visible.replace(/[&<>"']/g, (one) => ENTITIES[one]!);
}
