/** Templates are few by their nature. An application that gives each key a template of its own would fill the server's memory. */
const MAX_TEMPLATES = 500;
const OTHER = 'other';

/** Keeps the number of different templates bounded: what comes later, and calls without a template, are `other`. */
export class Templates {
  readonly #known = new Set<string>();

  labelOf(template: string | undefined): string {
    if (template === undefined) return OTHER;
    if (!this.#known.has(template)) {
      if (this.#known.size >= MAX_TEMPLATES) return OTHER;
      this.#known.add(template);
    }
    return template;
  }
}
