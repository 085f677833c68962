import { ApiProperty } from '@nestjs/swagger';

/** What a client gets for a change. */
export class Receipt {
  @ApiProperty({ example: 'journal' })
  readonly name: string;

  @ApiProperty({ example: '4294967321', description: 'A 64-bit number, as text: JSON numbers end at 53 bits.' })
  readonly fencingToken: string;

  @ApiProperty({ example: 4711, description: 'The process that did it.' })
  readonly pid: number;

  constructor(name: string, fencingToken: string, pid: number) {
    this.name = name;
    this.fencingToken = fencingToken;
    this.pid = pid;
  }

  static of(name: string, fencingToken: bigint): Receipt {
    return new Receipt(name, String(fencingToken), process.pid);
  }
}
