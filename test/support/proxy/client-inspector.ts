import { bodyOf, frameOf, FrameSplitter } from './frames.js';
import type { ConnectionControls, Inspector } from './inspector.js';
import type { Unit } from './lane.js';
import * as records from './records.js';
import type { NotificationRule, RequestRule, Script } from './script.js';
import { answered, type LoggedRequest, type TrafficLog } from './traffic-log.js';

interface Outstanding {
  request: LoggedRequest;
  /** What is to happen to the reply. */
  rule: RequestRule | undefined;
}

const CUT_HERE: Unit = { bytes: Buffer.alloc(0), thenCut: true };
const HANDSHAKE: records.RequestRecord = { xid: 0, opcode: 'connect', path: undefined, paths: [] };

/** Reads one client connection frame by frame, logs it and does what the script says. */
export class ClientInspector implements Inspector {
  private readonly splitters = { toServer: new FrameSplitter(), toClient: new FrameSplitter() };
  /** Pings, auth and set-watches share an xid each; the server answers those in order. */
  private readonly outstanding = new Map<number, Outstanding[]>();
  private greeting: Outstanding | undefined;
  private welcomed = false;
  private sessionId: bigint | undefined;
  /** The connection is about to be cut: what comes now does not count. */
  private over = false;

  constructor(
    private readonly controls: ConnectionControls,
    private readonly log: TrafficLog,
    private readonly script: Script,
  ) {}

  toServer(chunk: Buffer): Unit[] {
    const splitter = this.splitters.toServer;
    const units = this.look(splitter.push(chunk), (frame) => this.onRequestFrame(frame));
    // A four-letter word, or garbage from a client under test: it goes on as it is.
    if (!splitter.isFramed && !this.over) units.push({ bytes: splitter.takeRest() });
    return units;
  }

  toClient(chunk: Buffer): Unit[] {
    // The answer to a four-letter word is no frame either.
    if (!this.splitters.toServer.isFramed) return [{ bytes: chunk }];
    const splitter = this.splitters.toClient;
    const units = this.look(splitter.push(chunk), (frame) => this.onReplyFrame(frame));
    if (!splitter.isFramed && !this.over) units.push({ bytes: splitter.takeRest() });
    return units;
  }

  private look(frames: Buffer[], decide: (frame: Buffer) => Unit | undefined): Unit[] {
    const units: Unit[] = [];
    for (const frame of frames) {
      if (this.over) break;
      const unit = decide(frame);
      if (unit !== undefined) units.push(unit);
      if (unit?.thenCut === true) this.over = true;
    }
    return units;
  }

  private onRequestFrame(frame: Buffer): Unit | undefined {
    const isHandshake = this.greeting === undefined;
    if (isHandshake && this.script.takesHandshake(offeredSession(frame))) {
      this.over = true;
      this.controls.answer({ bytes: records.sessionExpiredResponse(), thenCut: true });
      return undefined;
    }
    const request = this.log.request(isHandshake ? HANDSHAKE : readable(frame), this.where());
    const rule = this.script.ruleFor(request);
    const outstanding = { request, rule };
    if (isHandshake) this.greeting = outstanding;
    else this.outstanding.set(request.xid, [...(this.outstanding.get(request.xid) ?? []), outstanding]);
    return onItsWayToTheServer(frame, outstanding);
  }

  private onReplyFrame(frame: Buffer): Unit {
    if (!this.welcomed && this.greeting !== undefined) return this.onWelcome(frame, this.greeting);
    const record = records.unlessMalformed(() => records.readReply(frame));
    if (record === undefined) return { bytes: frame };
    if (records.isNotification(record)) {
      const notification = this.log.notification(record, this.where());
      const rule = this.script.ruleForNotification(notification);
      rule?.happened(notification);
      return rule === undefined ? { bytes: frame } : notify(frame, rule);
    }
    const outstanding = this.outstanding.get(record.xid)?.shift();
    if (this.outstanding.get(record.xid)?.length === 0) this.outstanding.delete(record.xid);
    if (outstanding === undefined) return { bytes: frame };
    answered(outstanding.request, record.errorCode, this.sessionId);
    return onItsWayBack(frame, outstanding);
  }

  private onWelcome(frame: Buffer, greeting: Outstanding): Unit {
    this.welcomed = true;
    this.sessionId = records.unlessMalformed(() => records.readConnectResponse(frame).sessionId);
    answered(greeting.request, 0, this.sessionId);
    return onItsWayBack(frame, greeting);
  }

  private where(): { connectionId: number; sessionId: bigint | undefined } {
    return { connectionId: this.controls.connectionId, sessionId: this.sessionId };
  }
}

function onItsWayToTheServer(frame: Buffer, { request, rule }: Outstanding): Unit {
  const action = rule?.action;
  if (action !== 'observe' && action !== 'holdRequest' && action !== 'dropRequest') return { bytes: frame };
  rule?.happened(request);
  if (action === 'dropRequest') return CUT_HERE;
  return action === 'holdRequest' && rule !== undefined ? { bytes: frame, gate: rule.newGate() } : { bytes: frame };
}

function onItsWayBack(frame: Buffer, { request, rule }: Outstanding): Unit {
  if (rule === undefined) return { bytes: frame };
  const unit = faultyReply(frame, rule);
  if (unit === undefined) return { bytes: frame };
  rule.happened(request);
  return unit;
}

function faultyReply(frame: Buffer, rule: RequestRule): Unit | undefined {
  const { action } = rule;
  if (typeof action === 'object') return { bytes: frameOf(action.changeReply(Buffer.from(bodyOf(frame)))) };
  switch (action) {
    case 'holdReply':
      return { bytes: frame, gate: rule.newGate() };
    case 'loseReply':
      return CUT_HERE;
    case 'tearReply':
      return { bytes: frame.subarray(0, Math.floor(frame.length / 2)), thenCut: true };
    case 'observe':
    case 'holdRequest':
    case 'dropRequest':
      return undefined;
  }
}

function notify(frame: Buffer, rule: NotificationRule): Unit {
  switch (rule.action) {
    case 'observe':
      return { bytes: frame };
    case 'hold':
      return { bytes: frame, gate: rule.newGate() };
    case 'lose':
      return CUT_HERE;
  }
}

function offeredSession(frame: Buffer): bigint {
  return records.unlessMalformed(() => records.readConnectRequest(frame).sessionId) ?? 0n;
}

/** What passes through is passed on even if no record can be made of it: it may be a test's own garbage. */
function readable(frame: Buffer): records.RequestRecord {
  const xid = frame.length >= 8 ? frame.readInt32BE(4) : 0;
  return (
    records.unlessMalformed(() => records.readRequest(frame)) ?? {
      xid,
      opcode: 'unknown(0)',
      path: undefined,
      paths: [],
    }
  );
}
