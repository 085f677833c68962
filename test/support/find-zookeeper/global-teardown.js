export default async function globalTeardown() {
  await globalThis[Symbol.for('nestjs-zookeeper-lock.test.shared-zookeeper')]?.stop();
}
