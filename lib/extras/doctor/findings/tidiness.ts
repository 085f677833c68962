import { refusalIn } from '../../../queue/decide.js';
import type { SessionError } from '../../../session/errors.js';
import type { ListedNode } from '../look/lock-tree.js';
import type { SeenKey } from '../look/seen-key.js';
import { quoted } from './command-lines.js';
import { duration, firstOf, type Weighed } from './weighed.js';

/**
 * The servers look for empty containers once a minute (`znode.container.checkIntervalMs`), and remove one level of them at a time. A
 * container that is empty for longer than this was overlooked ten times.
 */
const REAPED_WITHIN_MS = 10 * 60_000;
/** Each empty node costs every server some memory: with so many of them it shows. */
const MANY_NODES = 10_000;

/** Contenders of other makes that do not see ours: the key has two locks. */
export function mixedFamilies(keys: readonly SeenKey[]): Weighed[] {
  return keys.flatMap(({ key, listed: { queue } }) => {
    // Contenders of other makes see those of some modes and not of others, so each mode that is in the queue is tried.
    for (const mode of new Set(queue.filter(({ ours }) => ours).map((node) => node.mode))) {
      const refusal = refusalIn(queue, mode);
      if (refusal?.because !== 'foreign family') continue;
      const text =
        `${refusal.node.name} in the queue of ${key} belongs to another kind of client, which does not see contenders of mode ${mode}: both may ` +
        'be inside at once. Calls of this package fail with LOCK_CONFIGURATION meanwhile.';
      const advice =
        'Let all clients of this key use one family of names: exclusive with a mutex of Curator or kazoo, read and write with their ' +
        'read-write locks (docs/neighbours.md).';
      return [{ kind: 'foreign node', severity: 'critical', key, text, advice, weight: queue.length }];
    }
    return [];
  });
}

/** Contenders of other makes are one finding, as they are nothing wrong. */
export function foreignContenders(keys: readonly SeenKey[]): Weighed[] {
  const where = keys.filter(({ contenders }) =>
    contenders.some(({ node, snapshot }) => !node.ours && snapshot.client === undefined),
  );
  if (where.length === 0) return [];
  return [
    {
      kind: 'foreign node',
      severity: 'notice',
      key: where.length === 1 ? where[0]!.key : undefined,
      text: `Other kinds of clients (Curator, kazoo, zkCli) queue on ${firstOf(where.map(({ key }) => key))}.`,
      advice:
        'They share the lock, and heed neither its record nor a break or a drain: breaking such a holder removes its node, and the ' +
        'holder goes on. Nothing is to do if you know of them.',
      weight: where.length,
    },
  ];
}

/** Nodes among the locks that are none: one finding for each place. */
export function strangers(nodes: readonly ListedNode[], withData: readonly string[]): Weighed[] {
  // This package's ephemeral nodes are contenders, or have reserved names; neither are among these nodes.
  const ephemeral = nodes.filter(({ stat }) => stat.ephemeralOwner !== 0n).map(({ path }) => path);
  const byParent = new Map<string, string[]>();
  for (const path of [...new Set([...ephemeral, ...withData])].sort()) {
    const parent = path.slice(0, path.lastIndexOf('/')) || '/';
    const known = byParent.get(parent);
    if (known === undefined) byParent.set(parent, [path]);
    else known.push(path);
  }
  return [...byParent].map(([parent, paths]) => ({
    kind: 'foreign node',
    severity: 'notice',
    key: undefined,
    text: `${paths.length === 1 ? `A node below ${parent} is no lock` : `${paths.length} nodes below ${parent} are no locks`}, and not of this package: ${firstOf(paths)}.`,
    advice:
      'They do no harm, and are read at each scan. If locks share the tree with other data by intent, leave them; give the locks a ' +
      'namespace of their own to be rid of them.',
    weight: paths.length,
  }));
}

/** Nodes that this client may not list: no finding knows what is below them. */
export function unreadableNodes(unreadable: readonly SessionError[]): Weighed[] {
  if (unreadable.length === 0) return [];
  const paths = unreadable.map(({ path = 'a node', code }) => `${path} (${code})`);
  return [
    {
      kind: 'foreign node',
      severity: 'notice',
      key: undefined,
      text: `${paths.length} nodes cannot be listed, so locks below them are not looked at: ${firstOf(paths)}.`,
      advice:
        'Give the doctor the credentials of the application (auth) that made them, or look elsewhere with a prefix. TOO_LARGE: the node has more children than an answer may name.',
      weight: paths.length,
    },
  ];
}

/** Nodes that are empty for so long that the servers will not remove them, told together. @param emptySince of each, where it is known */
export function notReaped(
  nodes: readonly ListedNode[],
  emptySince: (node: ListedNode) => number | undefined,
  nowMs: number,
): Weighed[] {
  const old = nodes.flatMap((node) => {
    const since = emptySince(node);
    return since !== undefined && nowMs - since > REAPED_WITHIN_MS ? [{ node, ageMs: nowMs - since }] : [];
  });
  if (old.length === 0) return [];
  old.sort((one, other) => other.ageMs - one.ageMs);
  const paths = old.map(({ node }) => node.path);
  // Servers leave a container alone until its first child has come: whoever has made it may be about to use it.
  const never = old.filter(({ node }) => node.stat.cversion === 0).length;
  const why =
    never === 0
      ? 'They are no containers, or the servers do not reap'
      : `${never} of them never had a child: servers do not reap such containers`;
  return [
    {
      kind: 'container not reaped',
      severity: old.length >= MANY_NODES ? 'warning' : 'notice',
      key: undefined,
      text: `${old.length === 1 ? 'An empty node stays' : `${old.length} empty nodes stay`} for longer than the servers take to remove it, the oldest for ${duration(old[0]!.ageMs)}: ${firstOf(paths)}. ${why}.`,
      advice:
        'See that the servers look for empty containers (znode.container.checkIntervalMs), and that no tool makes the nodes of keys as ' +
        `persistent ones. To remove one, which the servers refuse if it is in use: zkCli.sh delete ${quoted(paths[0]!)}`,
      weight: old.length,
    },
  ];
}
