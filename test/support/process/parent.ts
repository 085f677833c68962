/** For scripts that a test starts with `startNodeChild`: the other end of the channel. */

/** Sends anything that can be cloned; resolves when it is on its way. */
export function sendToParent(message: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    if (process.send === undefined) {
      reject(new Error('There is no parent to talk to: start this script with startNodeChild.'));
      return;
    }
    process.send(message, undefined, undefined, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** Listens to the parent; as long as it does the process stays alive. Returns what ends the listening. */
export function onParentMessage(listener: (message: unknown) => void): () => void {
  process.on('message', listener);
  return () => process.off('message', listener);
}
