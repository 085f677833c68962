import { OK, ROLLED_BACK } from '../tree/error-numbers.js';
import { prepare, prepareReap, type Caller } from '../tree/prepare.js';
import type { Change, Transaction } from '../tree/transaction.js';
import type { Tree } from '../tree/tree.js';
import { undoOf } from '../tree/undo.js';
import type { WriteRequest } from './messages.js';

type Decision = Pick<Transaction, 'changes' | 'errorNumber' | 'partErrors'>;

function refused(errorNumber: number): Decision {
  return { changes: [], errorNumber, partErrors: undefined };
}

/**
 * The leader's view of the future: the tree as it will be when everything proposed is committed. Each write is decided
 * against this tree, and carried out in it at once.
 */
export class Proposals {
  readonly #tree: Tree;

  constructor(committed: Tree) {
    this.#tree = committed.copy();
  }

  get tree(): Tree {
    return this.#tree;
  }

  /** @param sessionError why the session may not write; 0 if it may. A refused write also becomes a transaction */
  propose(request: WriteRequest, sessionError: number, wallMs: number): Transaction {
    const zxid = this.#tree.lastZxid + 1n;
    const decision = sessionError === OK ? this.#decide(request, zxid, wallMs) : refused(sessionError);
    // A refused write takes a transaction number, too, as in ZooKeeper.
    this.#tree.lastZxid = zxid;
    return { zxid, wallMs, origin: request.origin, ...decision };
  }

  #decide(request: WriteRequest, zxid: bigint, wallMs: number): Decision {
    const { write, sessionId } = request;
    switch (write.op) {
      case 'single':
        return this.#take(prepare(this.#tree, write.part, request), zxid, wallMs);
      case 'multi':
        return this.#decideMulti(write.parts, request, zxid, wallMs);
      case 'createSession':
        return this.#take({ op: 'createSession', sessionId, timeoutMs: write.timeoutMs }, zxid, wallMs);
      case 'closeSession':
        return this.#take({ op: 'closeSession', sessionId }, zxid, wallMs);
      case 'reap':
        return this.#take(prepareReap(this.#tree, write.path), zxid, wallMs);
    }
  }

  #take(prepared: Change | number, zxid: bigint, wallMs: number): Decision {
    if (typeof prepared === 'number') return refused(prepared);
    this.#tree.applyChange(prepared, zxid, wallMs);
    return { changes: [prepared], errorNumber: OK, partErrors: undefined };
  }

  #decideMulti(
    parts: readonly Parameters<typeof prepare>[1][],
    caller: Caller,
    zxid: bigint,
    wallMs: number,
  ): Decision {
    const changes: Change[] = [];
    const undos: (() => void)[] = [];
    // Each part is decided on the tree as the parts before it have left it.
    for (const [index, part] of parts.entries()) {
      const prepared = prepare(this.#tree, part, caller);
      if (typeof prepared !== 'number') {
        undos.push(undoOf(this.#tree, prepared));
        this.#tree.applyChange(prepared, zxid, wallMs);
        changes.push(prepared);
        continue;
      }
      // One refused part undoes all parts before it.
      for (const undo of undos.reverse()) undo();
      const partErrors = parts.map((_, other) => (other < index ? OK : other === index ? prepared : ROLLED_BACK));
      return { changes: [], errorNumber: OK, partErrors };
    }
    return { changes, errorNumber: OK, partErrors: undefined };
  }
}
