import { reach, writeDown } from './diary.js';

export class Invoices {
  async due(): Promise<string[]> {
    return ['ann', 'bob', 'cy'];
  }

  async send(customer: string, { token }: { token: bigint; signal: AbortSignal }): Promise<void> {
    await reach(customer);
    writeDown(customer, token);
  }
}
