import { answerWithinMs } from '../../lock/deadline.js';
import { failedWith } from '../../session/errors.js';
import type { MultiPart } from '../../session/requests.js';
import type { EngineContext } from '../context.js';
import { OwnWatch, type Place } from '../acquire/place.js';

/** The nodes that a hold stands on: its contender and, once it was upgraded, the intent that keeps readers out. */
export class HoldNodes {
  readonly #context: EngineContext;
  readonly #place: Place;
  readonly #onGone: () => void;
  #intent: { readonly path: string; readonly watch: OwnWatch } | undefined;

  /** `onGone` is told when somebody has removed one of them. */
  constructor(context: EngineContext, place: Place, onGone: () => void) {
    this.#context = context;
    this.#place = place;
    this.#onGone = onGone;
    this.#adopt(place.ownWatch);
  }

  addIntent(path: string): void {
    this.#intent = { path, watch: new OwnWatch(path) };
    this.#adopt(this.#intent.watch);
  }

  /** Has the servers tell when somebody removes one. Called again after a reconnect, it sets what is missing. */
  watch(): void {
    for (const watch of [this.#place.ownWatch, this.#intent?.watch]) {
      if (watch !== undefined && !watch.isSet) void this.#ask(watch);
    }
  }

  async #ask(watch: OwnWatch): Promise<void> {
    const [outcome] = await this.#context.session.batch([watch.ask()]);
    watch.answered(outcome);
    // No new link will remind of it, and the answer came after a pause.
    if (failedWith(outcome, 'THROTTLED')) watch.onUsedUp?.();
  }

  /** Nobody need be told of a removal any more. */
  unwatch(): void {
    const { session } = this.#context;
    this.#place.ownWatch.takeBack(session);
    this.#intent?.watch.takeBack(session);
  }

  /**
   * `also` is done in the same transaction. Resolves when the servers have confirmed, or as soon as the link is down, and
   * within the module's `waitMs` (an answer's time where that is 0); the removal goes on for as long as it takes.
   */
  remove(also: readonly MultiPart[]): Promise<void> {
    const { janitor, alarms, settings, uplink } = this.#context;
    const { path } = this.#place;
    const paths = this.#intent === undefined ? [path] : [this.#intent.path, path];
    const { done, forget } = janitor.begin(paths, also);
    return alarms.atMost(answerWithinMs(settings.waitMs), uplink.whileUp(done)).finally(forget);
  }

  #adopt(watch: OwnWatch): void {
    watch.onGone = this.#onGone;
    watch.onUsedUp = () => this.watch();
  }
}
