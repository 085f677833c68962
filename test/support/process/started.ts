/** A server that is up; where it does not come up, what there is of it is stopped before the error is told. */
export async function started<T extends { stop(): Promise<void> }>(server: T, start: () => Promise<void>): Promise<T> {
  try {
    await start();
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}
