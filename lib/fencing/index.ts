export type { Fence, FenceSettings } from './fence.js';
export { FencedFileStore, type FencedFileStoreOptions, type StoredFile } from './file-store/fenced-file-store.js';
export { FenceGuard } from './http/fence.guard.js';
export { FenceToken } from './http/fence-token.decorator.js';
export { fencedFetch, type FencedFetchOptions, type FencingClientOptions } from './http/fenced-fetch.js';
export { FencingTokenRequiredError } from './fencing-token-required-error.js';
export { fencingHeaders } from './http/fencing-headers.js';
export { fencingInterceptor, type InterceptedRequest } from './http/fencing-interceptor.js';
export type { FencingMarks } from './http/fencing-marks.js';
export type { FencingModuleOptions, SignedTokenRules } from './http/fencing-options.js';
export { type FencingExtras, FencingModule, type FencingOptionsFactory } from './http/fencing.module.js';
export { MemoryFencingMarks } from './http/memory-fencing-marks.js';
export { RequireFence, type RequireFenceOptions, WithoutFence } from './http/require-fence.decorator.js';
export { FENCING_TOKEN_HEADER } from './http/shown-token.js';
export type { Ed25519Input, SecretInput } from './signed/key-material.js';
export {
  type Ed25519PrivateKey,
  type SigningKey,
  SigningKeys,
  type SigningKeysOptions,
  type Ed25519PublicKey,
  type HmacKey,
  type VerificationKey,
  VerificationKeys,
} from './signed/keys.js';
export type { FencedUpdate } from './postgres/fenced-update.js';
export { fenceColumnSql, marksTableSql } from './postgres/migration.js';
export type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult } from './postgres/postgres-client.js';
export { PostgresFence, type PostgresFenceOptions } from './postgres/postgres-fence.js';
export type { RedisClient } from './redis/redis-client.js';
export { RedisFence, type RedisFenceOptions, type RedisValue } from './redis/redis-fence.js';
export {
  type ExpectedToken,
  type SignableLock,
  signToken,
  type SignTokenOptions,
  verifyToken,
} from './signed/signed-token.js';
export type { NewContent } from './new-content.js';
export type { VerifiedToken } from './signed/jws.js';
export { FencedZnodes, type FencedZnodesOptions, type ZnodeFence, type ZnodeValue } from './znodes/fenced-znodes.js';
export { type LockTicket, ticketOf } from './znodes/ticket.js';
export { ZnodeConflictError } from './znodes/znode-conflict-error.js';
