import { describe, expect, it } from '@jest/globals';
import { nextXid } from '../../../../lib/session/core/call.js';

describe('Numbers of requests', () => {
  it('start at one, rise, and go round before the sign would change', () => {
    expect(nextXid(0)).toBe(1);
    expect(nextXid(41)).toBe(42);
    expect(nextXid(0x7fff_fffe)).toBe(0x7fff_ffff);
    expect(nextXid(0x7fff_ffff)).toBe(1);
  });
});
