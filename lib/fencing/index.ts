export type { Fence, FenceSettings } from './fence.js';
export { FencedFileStore, type StoredFile } from './file-store/fenced-file-store.js';
export type { FencedFileStoreOptions } from './file-store/options.js';
export { FenceGuard } from './http/fence.guard.js';
export { FenceToken, RequireFence, type RequireFenceOptions, WithoutFence } from './http/fence.decorators.js';
export {
  fencedFetch,
  type FencedFetchOptions,
  type FencingClientOptions,
  fencingHeaders,
  fencingInterceptor,
  type InterceptedRequest,
} from './http/fencing-client.js';
export { FencingTokenRequiredError, ZnodeConflictError, FENCING_TOKEN_HEADER } from './errors.js';
export {
  type FencingMarks,
  MemoryFencingMarks,
  type FencingModuleOptions,
  type SignedTokenRules,
} from './http/fencing-options.js';
export { FencingModule, type FencingOptionsFactory } from './http/fencing.module.js';
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
export { FencedObjects, type FencedObjectsOptions, type StoredObject } from './objects/fenced-objects.js';
export type { ObjectClient, ObjectCondition, ObjectContent } from './objects/object-client.js';
export type { FencedUpdate } from './postgres/statements.js';
export type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult } from './postgres/transaction.js';
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
export { claimWith, type ClaimWithOptions, type RunSql } from './sql/claim-with.js';
export type { SqlDialect, SqlStep } from './sql/dialects.js';
export { fenceStatement, type FenceStatement, type FenceStatementOptions } from './sql/fence-statement.js';
export type { NewContent } from './checks.js';
export type { VerifiedToken } from './signed/jws.js';
export { FencedZnodes, type FencedZnodesOptions, type ZnodeFence, type ZnodeValue } from './znodes/fenced-znodes.js';
export { type LockTicket, ticketOf } from './znodes/ticket.js';
