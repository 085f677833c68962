/**
 * States that few schedules reach. A run of many schedules that never saw one of them has shown nothing about it, so it
 * fails: then the draws have to be changed until it is seen again.
 */
export const RARE_STATES = [
  'one that vanished was told to the next one',
  'a caller that asks for nothing was told',
  'a reader was told',
  'an upgrade took its place in the record',
  'a recoverer vanished as well',
  'a recovery failed and was left to the next one',
  'a recovery lost its lock',
  'a checkpoint was told that was never confirmed',
  'a hold stayed closed',
  'a call that cannot recover was refused',
  'a closed key was cleared',
  'a window outlived its holder',
  'a try was kept out by the window',
  'one that asks for nothing was kept out by the window',
  'an entry write lost its answer and was found again',
  'the record was changed between read and write',
  'a release whose session had ended cleared the record alone',
  'one that gave up put the record back',
  'one was told of a holder whose release came too late',
  'one was told of a contender that never entered',
  'a holder that was broken was told to the next one',
  'a broken holder ended in order and was told to nobody',
  'a full queue refused a call',
  'a call was refused for neighbours that had no nodes',
  'a call was refused for contenders of others alone',
  'a call joined behind as many as it allows',
  'a reader joined where a writer would have been refused',
  'a call queued again behind more than it allows',
] as const;

export type RareState = (typeof RARE_STATES)[number];
