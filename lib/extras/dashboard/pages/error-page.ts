import { html } from '../html.js';
import { frame } from './frame.js';

/** A page that says what went wrong, and the way back. */
export function errorPage(title: string, text: string, back: string): string {
  return frame({
    title,
    main: html`<h1>${title}</h1>
      <p class="note bad">${text}</p>
      <p><a href="${back}">Back</a></p>`,
  });
}
