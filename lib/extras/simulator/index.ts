export type { SimulatedClientOptions } from './client-options.js';
export type { ClientReference, FaultName, RequestKind } from './fault-arguments.js';
export type { PlannedFault } from './fault-plan.js';
export type { Latency } from '../../session/simulator/network/latency.js';
export { LockRecipe } from './lock-recipe.js';
export { LockSimulator } from './lock-simulator.js';
export { SimulatedClient } from './simulated-client.js';
export { type LostMessage, SimulatorFaults } from './simulator-faults.js';
export type { LockSimulatorOptions } from './simulator-options.js';
