import { BadRequestException, Body, Controller, Get, HttpCode, Inject, Param, Post, Put } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ApiLockRefusals, ApiWriteRefusals } from '../api-refusals.decorator.js';
import { InventoryService } from './inventory.service.js';

class Quantity {
  @ApiProperty({ example: 1, minimum: 0 })
  readonly quantity!: number;
}

class Stock {
  @ApiProperty({ example: 'apples' })
  readonly sku!: string;

  @ApiProperty({ example: 19 })
  readonly stock!: number;
}

@ApiTags('inventory')
@Controller('inventory/:sku')
export class InventoryController {
  constructor(@Inject(InventoryService) private readonly inventory: InventoryService) {}

  @Get()
  @ApiOperation({ summary: 'How many there are, by a lock that readers share.' })
  @ApiOkResponse({ type: Stock })
  @ApiLockRefusals()
  async stock(@Param('sku') sku: string): Promise<Stock> {
    return { sku, stock: await this.inventory.stock(sku) };
  }

  @Put()
  @ApiOperation({ summary: 'Sets the stock, as after counting it.' })
  @ApiBody({ type: Quantity })
  @ApiOkResponse({ type: Stock })
  @ApiWriteRefusals()
  async set(@Param('sku') sku: string, @Body() body: unknown): Promise<Stock> {
    return { sku, stock: await this.inventory.set(sku, quantityOf(body, { least: 0 })) };
  }

  @Post('deduct')
  @HttpCode(200)
  @ApiOperation({ summary: 'Takes some from the shelf: one, where the request has no body.' })
  @ApiBody({ type: Quantity, required: false })
  @ApiOkResponse({ type: Stock })
  @ApiWriteRefusals(' Or: there are not so many.')
  async deduct(@Param('sku') sku: string, @Body() body: unknown): Promise<Stock> {
    return { sku, stock: await this.inventory.deduct(sku, quantityOf(body, { least: 1, byDefault: 1 })) };
  }
}

/** The default is for a request without a body. A body that does not say how many is a mistake, and not one. */
function quantityOf(body: unknown, { least, byDefault }: { least: number; byDefault?: number }): number {
  if (byDefault !== undefined && isEmpty(body)) return byDefault;
  const { quantity } = (body ?? {}) as { readonly quantity?: unknown };
  if (typeof quantity === 'number' && Number.isSafeInteger(quantity) && quantity >= least) return quantity;
  throw new BadRequestException(
    `Send { "quantity": n } with Content-Type: application/json, a whole number of ${least} or more`,
  );
}

function isEmpty(body: unknown): boolean {
  return body === undefined || (Buffer.isBuffer(body) && body.length === 0);
}
