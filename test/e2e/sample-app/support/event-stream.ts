import { eventually } from '../../../support/process/eventually.js';

export interface StreamedEvent {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** A client of a stream of server-sent events that keeps all it got. */
export class EventStream implements AsyncDisposable {
  readonly events: StreamedEvent[] = [];
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  readonly #leaving = new AbortController();

  constructor(url: string) {
    this.ended = this.#listen(url);
  }

  next(what: string, fits: (event: StreamedEvent) => boolean): Promise<StreamedEvent> {
    return eventually(what, () => this.events.find(fits), {
      explain: () => `Came: ${JSON.stringify(this.events)}`,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
    await this.ended;
  }

  async #listen(url: string): Promise<void> {
    try {
      const { body } = await fetch(url, { signal: this.#leaving.signal });
      let text = '';
      for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
        const blocks = (text + chunk).split('\n\n');
        text = blocks.pop() ?? '';
        this.events.push(...blocks.flatMap(parse));
      }
    } catch (error) {
      if (!this.#leaving.signal.aborted) throw error;
    }
  }
}

function parse(block: string): StreamedEvent[] {
  const type = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (type === undefined || data === undefined) return [];
  return [{ type, data: JSON.parse(data) as Record<string, unknown> }];
}
