import { applyDecorators } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiConflictResponse,
  ApiProperty,
  ApiResponse,
  ApiServiceUnavailableResponse,
} from '@nestjs/swagger';

/** The body of an answer that is none of the above; lock errors have a `code` as well. */
export class Refusal {
  @ApiProperty({ example: 423 })
  readonly statusCode!: number;

  @ApiProperty({ example: 'LOCK_TIMEOUT', required: false, description: 'The `code` of a lock error.' })
  readonly code?: string;

  @ApiProperty({ example: 'The lock is busy: others held it for the whole time that this call could wait' })
  readonly message!: string;
}

/** What every operation answers that acquires a lock. */
export function ApiLockRefusals(): MethodDecorator & ClassDecorator {
  return applyDecorators(
    ApiResponse({
      status: 423,
      type: Refusal,
      description: 'Others held the lock for as long as the request would wait.',
    }),
    ApiServiceUnavailableResponse({
      type: Refusal,
      description: 'No ZooKeeper, the lock was lost, or this instance shuts down. Try again after `Retry-After`.',
      headers: { 'Retry-After': { description: 'Seconds', schema: { type: 'integer' } } },
    }),
  );
}

/** And those that write what it protects. @param conflict what else may be in the way */
export function ApiWriteRefusals(conflict = ''): MethodDecorator & ClassDecorator {
  return applyDecorators(
    ApiBadRequestResponse({ type: Refusal, description: 'The body, or a value in the path, is not what is expected.' }),
    ApiConflictResponse({ type: Refusal, description: `A later holder of the lock has written already.${conflict}` }),
    ApiLockRefusals(),
  );
}
