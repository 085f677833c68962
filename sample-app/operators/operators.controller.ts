import { BadRequestException, Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ApiWriteRefusals } from '../api-refusals.decorator.js';
import { checkedKey } from '../locks/key-of-path.js';
import { OperatorsService } from './operators.service.js';

class Step {
  @ApiProperty({ example: '/locks/files/journal' })
  readonly key!: string;

  @ApiProperty({ example: 'stuck since noon' })
  readonly reason!: string;
}

class StepAtHolder extends Step {
  @ApiProperty({ example: '4294967301', description: 'The token of the holder that is meant, as digits.' })
  readonly token!: string;
}

/** A service of yours guards these: whoever reaches them takes locks away. */
@ApiTags('operations')
@Controller('operators')
export class OperatorsController {
  constructor(@Inject(OperatorsService) private readonly operators: OperatorsService) {}

  @Post('break')
  @HttpCode(200)
  @ApiOperation({ summary: 'Takes a lock away from its holder, who has 5 s to put right what is half done.' })
  @ApiBody({ type: StepAtHolder })
  @ApiWriteRefusals(' Or: another one holds it.')
  break(@Body() body: unknown): Promise<unknown> {
    return this.operators.break(keyIn(body), tokenIn(body), textIn(body, 'reason'));
  }

  @Post('drain')
  @HttpCode(200)
  @ApiOperation({ summary: 'Ends all waits for a lock.' })
  @ApiBody({ type: Step })
  @ApiWriteRefusals()
  drain(@Body() body: unknown): Promise<unknown> {
    return this.operators.drain(keyIn(body), textIn(body, 'reason'));
  }

  @Post('clear')
  @HttpCode(200)
  @ApiOperation({ summary: 'Opens a key that a holder which died has left closed.' })
  @ApiBody({ type: StepAtHolder })
  @ApiWriteRefusals(' Or: no such holder is known.')
  clear(@Body() body: unknown): Promise<unknown> {
    return this.operators.clear(keyIn(body), tokenIn(body), textIn(body, 'reason'));
  }
}

function keyIn(body: unknown): string {
  return checkedKey(textIn(body, 'key'));
}

function tokenIn(body: unknown): bigint {
  const token = textIn(body, 'token');
  if (/^\d{1,19}$/.test(token)) return BigInt(token);
  throw new BadRequestException('token: send its digits, as /locks/... shows them');
}

function textIn(body: unknown, name: string): string {
  const value = ((body ?? {}) as Readonly<Record<string, unknown>>)[name];
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 200) return value;
  throw new BadRequestException(`${name}: send a text of 1 to 200 characters, with Content-Type: application/json`);
}
