import { html } from '../html.js';
import { frame } from './frame.js';

interface ErrorContent {
  readonly title: string;
  readonly text: string;
  /** The address of the way back. */
  readonly back: string;
}

/** A page that says what went wrong, and the way back. */
export function errorPage({ title, text, back }: ErrorContent, connection: string): string {
  return frame({
    title,
    main: html`<h1>${title}</h1>
      <p class="note bad">${text}</p>
      <p><a href="${back}">Back</a></p>`,
    connection,
  });
}
