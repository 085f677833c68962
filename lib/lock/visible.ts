/**
 * Characters that nobody sees, and that change what is seen: controls, ends of lines, zero widths, fillers, and those that turn the
 * direction of writing, by which one key can look like another. Joiners and the selectors of variants stay: words of Persian and of
 * Hindi, and emoji, are made with them.
 */
export const UNSEEN =
  /(?![\p{Join_Control}\p{Variation_Selector}])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * A text of others (a key, a label, a host, the words of a server), as a message, a log, a terminal or a page may show it: it is no line
 * of its own there, no command to a terminal, and no other text than it seems to be. What has been made visible stays as it is.
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, (one) => {
    const digits = one.codePointAt(0)!.toString(16);
    return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`;
  });
}
