import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';

/** What was logged while lock errors were answered: their details, which the answers do not have. */
export interface Refusals extends Disposable {
  /** Since the last question. */
  take(): string[];
}

export function recordRefusals(): Refusals {
  const lines: string[] = [];
  const spies = (['debug', 'warn', 'error'] as const).map((level) =>
    jest.spyOn(Logger.prototype, level).mockImplementation((message: unknown) => void lines.push(String(message))),
  );
  return {
    take: () => lines.splice(0),
    [Symbol.dispose]: () => spies.forEach((spy) => spy.mockRestore()),
  };
}
