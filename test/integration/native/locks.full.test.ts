// The same promises as on the other client, on the npm package `zookeeper`.
process.env['CLIENT_UNDER_TEST'] = 'native';
await import('../promises/no-resurrection.test.js');
await import('../promises/one-holder.test.js');
await import('../promises/tokens-rise.test.js');
await import('../promises/honest-errors.test.js');
await import('../promises/suspension.test.js');
await import('../promises/crowd-of-waiters.test.js');
await import('../promises/lease.test.js');
await import('../promises/every-promise-settles.test.js');
