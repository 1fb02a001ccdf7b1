import { setText } from './dom.js';
import type { LabPacket } from './lab.js';

/** The packets that a head acks: the newest one that had arrived, and those before it. */
const ACKS = 32;

const count = (number: number, what: string): string =>
  `${number} ${what}${number === 1 ? '' : 's'}`;

/** The newest packet of each end: its number, a square for each packet that it acks, and its messages. */
export class Inspector {
  readonly #rows: readonly HTMLElement[];

  constructor(readonly root: HTMLElement) {
    this.#rows = [...root.querySelectorAll<HTMLElement>('.packet')];
    for (const row of this.#rows)
      row
        .querySelector('.acks')!
        .append(...Array.from({ length: ACKS }, () => document.createElement('i')));
  }

  /** Shows the packets of the client and of the server; nothing for a protocol whose heads cannot be read. */
  show(packets: readonly (LabPacket | undefined)[]): void {
    this.root.hidden = packets.every((packet) => !packet);
    packets.forEach((packet, end) => packet && this.#tell(this.#rows[end]!, packet));
  }

  #tell(row: HTMLElement, { size, sequence, ack, ackBits, messages, resent }: LabPacket): void {
    const part = (selector: string): HTMLElement => row.querySelector<HTMLElement>(selector)!;
    setText(part('.sequence'), String(sequence));
    setText(part('.ack'), String(ack));
    const again = resent > 0 ? `, ${resent} of them again` : '';
    setText(part('.carries'), `${count(messages, 'message')}${again}, ${size} bytes`);
    const squares = part('.acks').children;
    let arrived = 0;
    for (let bit = 0; bit < ACKS; bit++) {
      const has = ((ackBits >>> bit) & 1) === 1;
      arrived += Number(has);
      // The newest packet is on the right, where the dots of the wire end too.
      squares[ACKS - 1 - bit]!.className = has ? 'arrived' : '';
    }
    part('.acks').ariaLabel = `${arrived} of ${ACKS} packets up to ${ack} have arrived`;
  }
}
