import { describe, expect, it } from '@jest/globals';
import { Channel } from '../../../../lib/session/simulator/network/channel.js';
import { SeededRandom } from '../../../../lib/session/simulator/time/random.js';
import { VirtualTime } from '../../../../lib/session/simulator/time/virtual-time.js';

function given(delaysMs: number[], seed?: number) {
  const time = new VirtualTime(seed === undefined ? undefined : new SeededRandom(seed));
  const segments: { atMs: number; messages: readonly string[] }[] = [];
  const channel = new Channel<string>(
    time,
    () => delaysMs.shift() ?? 0,
    (messages) => segments.push({ atMs: time.now(), messages }),
  );
  return { time, channel, segments };
}

describe('one direction of a simulated connection', () => {
  it('never lets a message overtake the one before it', () => {
    const { time, channel, segments } = given([30, 10, 40]);
    for (const message of ['a', 'b', 'c']) channel.send(message);
    time.runAlone(() => false, 100);
    expect(segments).toEqual([
      { atMs: 30, messages: ['a', 'b'] },
      { atMs: 40, messages: ['c'] },
    ]);
  });

  it('may split a segment anywhere where chance decides, keeping its order', () => {
    const shapes = new Set<string>();
    for (let seed = 0; seed < 400; seed += 1) {
      const { time, channel, segments } = given([], seed);
      for (const message of ['a', 'b', 'c']) channel.send(message);
      time.runAlone(() => false, 100);
      expect(segments.flatMap(({ messages }) => messages)).toEqual(['a', 'b', 'c']);
      shapes.add(segments.map(({ messages }) => messages.join('')).join(' '));
    }
    expect(shapes).toEqual(new Set(['abc', 'a bc', 'ab c', 'a b c']));
  });

  it('keeps what is sent while it is held, also what was under way, and delivers it afterwards', () => {
    const { time, channel, segments } = given([10, 10, 5]);
    channel.send('under way');
    channel.hold(true);
    channel.send('held');
    time.runAlone(() => false, 50);
    expect(segments).toEqual([]);
    channel.hold(false);
    time.runAlone(() => false, 100);
    expect(segments).toEqual([{ atMs: 55, messages: ['under way', 'held'] }]);
  });

  it('loses what is under way when it is cut', () => {
    const { time, channel, segments } = given([10]);
    channel.send('lost');
    channel.cut();
    channel.send('too late');
    time.runAlone(() => false, 100);
    expect(segments).toEqual([]);
  });
});
