import { seconds } from '../clock.js';
import type { Core } from '../core.js';
import { Endpoint } from '../endpoint.js';
import type { SecureTransport } from '../hosts/secure_transport.js';
import { Fault, Skipped } from './faults.js';

/** The figures of the path to the game server and back. */
export interface PathFigures {
  /** Seconds of a round trip, and the mean difference between one and the next. */
  readonly rtt: number;
  readonly jitter: number;
  /** The shares of the packets that were lost on the way to the game server, and from it. */
  readonly lossUp: number;
  readonly lossDown: number;
}

/** This many packets are counted, and others follow until the last of them must have been acked. */
const COUNTED = 60;
const FOLLOWING = 8;
const INTERVAL_MS = 20;
/** This many may be under way, less than the 33 that an ack tells of: an end that pauses must not look like loss. */
const WINDOW = 16;
/** Each third packet is this long, and so is a datagram of 1,060 bytes. */
const LARGE = 1024;
/** Players notice what is lost above this share. */
const LOSSY = 0.05;

/** Throws the fault of a path that loses what is counted here. */
export function judge(small: number, smallSent: number, large: number, loss: number): void {
  if (large === 0 && small > smallSent / 2)
    throw new Fault('MTU', 'short packets arrive, and long ones do not');
  if (loss > LOSSY) throw new Fault('LOSS', `${percent(loss)} of the packets are lost`);
}

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
export const milliseconds = (time: number): string => `${(time * 1000).toFixed(1)} ms`;

/**
 * Measures a path with packets that a game server of this library, or of yojimbo, acks and ignores: no messages are in
 * them.
 */
export async function measure(
  core: Core,
  transport: SecureTransport,
  timeoutSeconds: number,
): Promise<PathFigures> {
  const endpoint = new Endpoint(core);
  const acked = [0, 0];
  let underWay = 0;
  let last = -1;
  const isLarge = (sequence: number): number => Number(sequence % 3 === 2);
  const take = (): void => {
    for (const event of endpoint.events()) {
      if (event.type === 'packet') endpoint.accept(event.sequence);
      else underWay--;
      if (event.type !== 'acked') continue;
      last = Math.max(last, event.sequence);
      if (event.sequence < COUNTED) acked[isLarge(event.sequence)]!++;
    }
  };
  transport.ondatagram = (datagram) => {
    endpoint.receive(datagram, seconds());
    take();
  };
  try {
    const end = seconds() + timeoutSeconds;
    while (last < COUNTED + FOLLOWING && seconds() < end && transport.state === 'open') {
      endpoint.update(seconds());
      take();
      if (underWay < WINDOW) {
        const large = isLarge(endpoint.nextSequence);
        endpoint.send(new Uint8Array(large ? LARGE : 1), seconds());
        transport.send(endpoint.transmit(seconds())!);
        underWay++;
      }
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    }
    const [small = 0, large = 0] = acked;
    // Later packets than the newest one that has arrived may still be under way.
    const counted = Math.min(last + 1, COUNTED);
    const { rtt, jitter, packetsMissed, packetsReceived } = endpoint.stats();
    if (small + large === 0) throw new Skipped('the game server acks no packets of this library');
    const lossUp = 1 - (small + large) / counted;
    const lossDown = packetsMissed / (packetsMissed + packetsReceived);
    judge(small, counted * (2 / 3), large, Math.max(lossUp, lossDown));
    return { rtt, jitter, lossUp, lossDown };
  } finally {
    endpoint.destroy();
  }
}
