/** A call of the package, whose answer carries the number. */
export interface NativeCall {
  readonly number: number;
  readonly method: 'a_create' | 'a_delete_' | 'a_set' | 'a_get' | 'a_exists' | 'a_get_children2' | 'a_sync';
  readonly args: readonly unknown[];
}

/** A session as the package writes it: 64 bits and 16 bytes in hexadecimal. */
export interface NativeSession {
  readonly id: string;
  readonly password: string;
}

/** What the main thread asks of the thread. Each `client` is a number that is used once. */
export type ToThread =
  | {
      readonly type: 'open';
      readonly client: number;
      /** One server, by its IP address. */
      readonly connect: string;
      readonly timeoutMs: number;
      /** Undefined where a new session is asked for. */
      readonly session: NativeSession | undefined;
    }
  | { readonly type: 'call'; readonly client: number; readonly call: NativeCall }
  /** Is answered when all calls in front of it have been made. */
  | { readonly type: 'flush'; readonly client: number; readonly number: number }
  /** Ends the session at the server, and the connection. Only to be asked of a server that has just answered. */
  | { readonly type: 'close'; readonly client: number }
  /** Ends the connection and leaves the session alone. */
  | { readonly type: 'abandon'; readonly client: number }
  /** Abandons every client, and ends the thread. */
  | { readonly type: 'end' };

/** What the thread tells. */
export type FromThread =
  /** The package cannot be loaded. */
  | { readonly type: 'unusable'; readonly client: number; readonly reason: string }
  /** Only another thread can go on. */
  | { readonly type: 'spoiled'; readonly reason: string }
  | { readonly type: 'up'; readonly client: number; readonly session: NativeSession; readonly timeoutMs: number }
  | {
      readonly type: 'answer';
      readonly client: number;
      readonly number: number;
      /** 0, an error number of the server, or one of the package's own. */
      readonly rc: number;
      readonly values: readonly unknown[];
    }
  | {
      readonly type: 'event';
      readonly client: number;
      readonly event: 'created' | 'deleted' | 'changed' | 'children';
      readonly path: string;
    }
  | { readonly type: 'flushed'; readonly client: number; readonly number: number }
  /** The session was closed, and the server has answered that. */
  | { readonly type: 'closed'; readonly client: number }
  /** The connection is over, and no request is sent over it any more. */
  | { readonly type: 'down'; readonly client: number; readonly reason: string }
  /** The server says that the offered session has ended. */
  | { readonly type: 'expired'; readonly client: number };

/** What the thread is given at its start. */
export interface ThreadData {
  /** Where the package is. */
  readonly packagePath: string;
  /** One integer, which is 1 once the thread has let go of every client and may be ended. */
  readonly ended: SharedArrayBuffer;
}
