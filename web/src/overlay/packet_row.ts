import { add } from './elements.js';

/** A packet: its head, and the number of its messages. */
export interface Packet {
  /** The bytes of its first datagram. */
  readonly size: number;
  readonly sequence: number;
  /** The newest packet of the other end that had arrived. */
  readonly ack: number;
  /** Bit n says that the packet `ack - n` of the other end had arrived. */
  readonly ackBits: number;
  /** Messages, and parts of blocks. */
  readonly messages: number;
  /** The number of these that were sent before. */
  readonly resent: number;
}

/** The packets that a head acks: the newest one that had arrived, and those before it. */
const ACKS = 32;

const count = (number: number, what: string): string =>
  `${number} ${what}${number === 1 ? '' : 's'}`;

/** Shows a packet: its number, a square for each packet that it acks, and its messages. */
export class PacketRow {
  readonly #head: HTMLElement;
  readonly #acks: HTMLElement;
  readonly #carries: HTMLElement;
  readonly #squares: readonly HTMLElement[];

  /**
   * @param whose words in front of the packet's number
   * @param colors the colours of a packet that has arrived, and of one that has not
   */
  constructor(
    parent: Node,
    readonly whose: string,
    readonly colors: { readonly arrived: string; readonly missing: string },
  ) {
    const row = add(parent, 'div', 'padding-bottom: 4px; font-variant-numeric: tabular-nums');
    row.className = 'packet';
    this.#head = add(row, 'div', '');
    this.#acks = add(
      row,
      'div',
      `display: grid; grid-template-columns: repeat(${ACKS}, 1fr); gap: 1px; padding: 2px 0`,
    );
    this.#acks.className = 'acks';
    this.#acks.setAttribute('role', 'img');
    this.#carries = add(row, 'div', '');
    const square = 'aspect-ratio: 1; box-sizing: border-box; border: 1px solid; border-radius: 1px';
    this.#squares = Array.from({ length: ACKS }, () => add(this.#acks, 'i', square));
  }

  show({ size, sequence, ack, ackBits, messages, resent }: Packet): void {
    this.#head.textContent = `${this.whose} ${sequence} acks up to ${ack}`;
    const again = resent > 0 ? `, ${resent} again` : '';
    this.#carries.textContent = `${count(messages, 'message')}${again}, ${size} bytes`;
    let arrived = 0;
    for (let bit = 0; bit < ACKS; bit++) {
      const has = ((ackBits >>> bit) & 1) === 1;
      arrived += Number(has);
      // The newest packet is on the right. One that is missing is empty, so that colour alone does not tell.
      const square = this.#squares[ACKS - 1 - bit]!;
      square.className = has ? 'arrived' : '';
      square.style.borderColor = has ? this.colors.arrived : this.colors.missing;
      square.style.background = has ? this.colors.arrived : '';
    }
    this.#acks.ariaLabel = `${arrived} of ${ACKS} packets up to ${ack} have arrived`;
  }
}
