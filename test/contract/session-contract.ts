import { certaintyContract } from './promises/certainty.js';
import { closesContract } from './promises/closes.js';
import { configurationContract, grantsContract } from './promises/configuration.js';
import { createsContract } from './promises/creates.js';
import { isolationsContract } from './promises/isolations.js';
import { linksContract } from './promises/links.js';
import { longListsContract } from './promises/long-lists.js';
import { lossesContract } from './promises/losses.js';
import { multisContract } from './promises/multis.js';
import { requestsContract } from './promises/requests.js';
import { shortSessionsContract } from './promises/short-sessions.js';
import { silencesContract } from './promises/silences.js';
import { watchesContract } from './promises/watches.js';
import { watchesAndLinksContract } from './promises/watches-and-links.js';
import { watchesAtServersContract } from './promises/watches-at-servers.js';
import { type Gaps, NO_GAPS } from './worlds/gaps.js';
import type { ContractWorld, HarmableWorld } from './worlds/contract-world.js';

/** What any session must do on any server: nothing here goes wrong but what the requests themselves ask for. */
export function happyPathsContract(world: () => ContractWorld, gaps: Gaps = NO_GAPS): void {
  createsContract(world);
  requestsContract(world, gaps);
  longListsContract(world);
  if (!gaps.has('multi')) multisContract(world);
  watchesContract(world);
  configurationContract(world, gaps);
}

/** What any session must do when links fail, and when it is closed. */
export function faultsContract(world: () => HarmableWorld, gaps: Gaps = NO_GAPS): void {
  grantsContract(world);
  linksContract(world, gaps);
  watchesAtServersContract(world, gaps);
  watchesAndLinksContract(world, gaps);
  closesContract(world);
}

/** What any session must do as its time runs out, and when it has: where time is real, each of these waits for that. */
export function sessionEndsContract(world: () => HarmableWorld): void {
  lossesContract(world);
  silencesContract(world);
  certaintyContract(world);
}

/** What takes a majority to fail, or a server that is not one of it: three servers. */
export function ensembleContract(world: () => HarmableWorld): void {
  isolationsContract(world);
}

/** What leaves so little time that only a clock which waits for the code can check it. */
export function exactTimeContract(world: () => HarmableWorld): void {
  shortSessionsContract(world);
}
