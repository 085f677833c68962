import { BadRequestException, Body, Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ApiLockRefusals, ApiWriteRefusals } from '../api-refusals.decorator.js';
import { type Balances, LedgersService } from './ledgers.service.js';

class Deposit {
  @ApiProperty({ example: 10, minimum: 1 })
  readonly amount!: number;
}

class Accounts implements Balances {
  @ApiProperty({ example: 90 })
  readonly cash!: number;

  @ApiProperty({ example: 10 })
  readonly bank!: number;
}

@ApiTags('ledgers')
@Controller('ledgers/:ledger')
export class LedgersController {
  constructor(@Inject(LedgersService) private readonly ledgers: LedgersService) {}

  @Get()
  @ApiOperation({ summary: 'Both accounts; what a process that died has left half done is finished first.' })
  @ApiOkResponse({ type: Accounts })
  @ApiLockRefusals()
  balances(@Param('ledger') ledger: string): Promise<Balances> {
    return this.ledgers.balances(ledger);
  }

  @Post('deposit')
  @HttpCode(200)
  @ApiOperation({ summary: 'Takes cash to the bank: two files that change together.' })
  @ApiBody({ type: Deposit })
  @ApiOkResponse({ type: Accounts })
  @ApiWriteRefusals(' Or: there is not so much cash.')
  deposit(@Param('ledger') ledger: string, @Body() body: unknown): Promise<Balances> {
    return this.ledgers.deposit(ledger, amountOf(body));
  }
}

function amountOf(body: unknown): number {
  const { amount } = (body ?? {}) as { readonly amount?: unknown };
  if (typeof amount === 'number' && Number.isSafeInteger(amount) && amount > 0) return amount;
  throw new BadRequestException(
    'Send { "amount": n } with Content-Type: application/json, a whole number of 1 or more',
  );
}
