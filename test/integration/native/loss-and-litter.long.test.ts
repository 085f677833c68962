// The same promises as on the other client, on the npm package `zookeeper`.
process.env['CLIENT_UNDER_TEST'] = 'native';
await import('../promises/loss-is-told-first.test.js');
await import('../promises/no-litter.test.js');
await import('../promises/own-node-removed.test.js');
