import { parity as wire } from '../generated.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the bytes of both, mixed by XOR; as many as the longer one has. */
function mix(a: Bytes, b: Bytes): Bytes {
  const [longer, shorter] = a.length < b.length ? [b, a] : [a, b];
  const mixed = longer.slice();
  shorter.forEach((byte, i) => (mixed[i]! ^= byte));
  return mixed;
}

/**
 * The parity of pairs of datagrams, which goes with the datagram after a pair; with it and either of the pair the receiver
 * makes the other. `relay/session/parity.h` describes it.
 */
export class Parity {
  /** The sequence number of the latest datagram that went. */
  sent = 0;
  /** The sizes of its pair, mixed. */
  sizes = 0;
  mixed: Bytes = new Uint8Array();
  readonly #came: { sequence: number; datagram: Bytes }[] = [];

  /** True when a datagram that goes now would be the first after a pair. */
  get isDue(): boolean {
    return this.sent % 2 === 0 && this.mixed.length > 0;
  }

  /** Takes a datagram that goes: the next of a pair, or the first of a new one. */
  add(datagram: Bytes): void {
    if (this.sent % 2 === 0) {
      this.sizes = 0;
      this.mixed = new Uint8Array();
    }
    this.mixed = mix(this.mixed, datagram);
    this.sizes ^= datagram.length;
    this.sent = (this.sent + 1) & wire.sequenceMask;
  }

  /** Keeps a datagram that has come. */
  keep(sequence: number, datagram: Bytes): void {
    this.#came[sequence % wire.kept] = { sequence, datagram };
  }

  /** Takes the parity that came with the datagram of this number; returns the one of the pair that has not come. */
  recover(sequence: number, sizes: number, mixed: Bytes): Bytes | undefined {
    const pair = [this.#find(sequence - 2), this.#find(sequence - 1)];
    const known = pair.find(Boolean);
    if (!known || pair.every(Boolean)) return undefined;
    const size = sizes ^ known.length;
    if (Math.max(size, known.length) > mixed.length) return undefined;
    return mix(mixed, known).slice(0, size);
  }

  #find(sequence: number): Bytes | undefined {
    const number = sequence & wire.sequenceMask;
    const kept = this.#came[number % wire.kept];
    return kept?.sequence === number ? kept.datagram : undefined;
  }
}
