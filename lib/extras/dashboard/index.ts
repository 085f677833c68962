export type { DashboardOperation, LockDashboardOptions } from './dashboard-options.js';
export { LockDashboardModule } from './lock-dashboard.module.js';
