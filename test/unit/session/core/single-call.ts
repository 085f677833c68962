import { Call } from '../../../../lib/session/core/call.js';
import { SessionError } from '../../../../lib/session/errors.js';
import type { Reply, Request } from '../../../../lib/session/requests.js';

/** A request with a promise of its own. */
export class SingleCall extends Call {
  readonly promise: Promise<Reply>;

  constructor(request: Request) {
    let settle!: (outcome: Reply | SessionError) => void;
    const promise = new Promise<Reply>((resolve, reject) => {
      settle = (outcome) => (outcome instanceof SessionError ? reject(outcome) : resolve(outcome));
    });
    super(request, settle);
    this.promise = promise;
  }
}
