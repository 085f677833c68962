import type { SimulatedServer } from './server.js';

function compare(one: SimulatedServer, other: SimulatedServer): number {
  // ZooKeeper's rule: the later epoch wins, then the later transaction, then the larger id.
  if (one.currentEpoch !== other.currentEpoch) return one.currentEpoch - other.currentEpoch;
  if (one.lastLoggedZxid !== other.lastLoggedZxid) return one.lastLoggedZxid > other.lastLoggedZxid ? 1 : -1;
  return one.id - other.id;
}

export interface Electorate {
  readonly servers: readonly SimulatedServer[];
  canTalk(one: SimulatedServer, other: SimulatedServer): boolean;
}

export interface ElectionResult {
  readonly leader: SimulatedServer;
  readonly followers: readonly SimulatedServer[];
  readonly epoch: number;
}

/** Whether the server can take part: it is up, is not frozen, and has no leader. */
function isLooking(server: SimulatedServer): boolean {
  return server.host.alive && !server.host.paused && server.role.name === 'looking';
}

export function lookingServers(electorate: Electorate): SimulatedServer[] {
  return electorate.servers.filter(isLooking);
}

/**
 * A leader in office that `server` can reach and may follow. A leader of an epoch that the server has left behind is
 * none.
 */
export function leaderInReachOf(server: SimulatedServer, electorate: Electorate): SimulatedServer | undefined {
  return electorate.servers.find(
    (other) =>
      other.role.name === 'leading' &&
      other.role.isServing &&
      !other.host.paused &&
      other.currentEpoch >= server.acceptedEpoch &&
      electorate.canTalk(server, other),
  );
}

/**
 * Elects the server with the most recent history among those that look for a leader and can talk to each other, if they
 * are a majority. The votes themselves are not simulated, only their outcome.
 */
export function elect(electorate: Electorate): ElectionResult | undefined {
  const looking = lookingServers(electorate);
  for (const candidate of looking) {
    const voters = looking.filter((server) => server === candidate || electorate.canTalk(candidate, server));
    if (voters.length <= electorate.servers.length / 2) continue;
    // A voter with a more recent history would not vote for this candidate.
    if (voters.some((voter) => compare(voter, candidate) > 0)) continue;
    const epoch = Math.max(...voters.map((voter) => voter.acceptedEpoch)) + 1;
    return { leader: candidate, followers: voters.filter((voter) => voter !== candidate), epoch };
  }
  return undefined;
}
