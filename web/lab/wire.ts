import { prepare } from '../demo/canvas.js';

/** A packet on its way; times are seconds of the run. */
export interface Flight {
  readonly number: number;
  /** True when the packet goes from the client to the server. */
  readonly up: boolean;
  readonly bytes: number;
  readonly sent: number;
  /** The seconds that the packet is under way, or would have been. */
  readonly seconds: number;
  readonly fate: 'sent' | 'lost' | 'overflowed';
}

/** The seconds of the viewer's clock for which the cross of a lost packet is seen. */
const CROSS_SECONDS = 0.7;
/** The part of the way after which a lost packet disappears. */
const DEATH = { lost: 0.4, overflowed: 0.05 } as const;
const END = 12;
/** The width in pixels left for the name of an end. */
const NAME = 36;
/** The length of a packet's tail in pixels. */
const TAIL = 18;
/** The seconds of the run after which a packet that has ended is not shown any more, because a run may go on unseen. */
const STALE_SECONDS = 0.1;

interface Cross {
  readonly x: number;
  readonly y: number;
  readonly born: number;
}

/** Draws the packets between the two ends of a column as dots. */
export class Wire {
  #flights: Flight[] = [];
  #crosses: Cross[] = [];

  constructor(readonly canvas: HTMLCanvasElement) {}

  clear(): void {
    this.#flights = [];
    this.#crosses = [];
  }

  /** Adds packets, except those that are not visible any more. */
  add(flights: readonly Flight[], now: number): void {
    this.#flights.push(
      ...flights.filter(({ sent, seconds }) => sent + seconds > now - STALE_SECONDS),
    );
  }

  /** Draws the packets; `now` is the time of the run, `seen` the viewer's time, in seconds. */
  draw(now: number, seen: number): void {
    const { context, width, height, color } = prepare(this.canvas);
    const length = width - 2 * END;
    this.#ends(context, width, height, color);
    const dot = color('mine');
    this.#flights = this.#flights.filter((flight) => {
      const { sent, seconds, fate, up, number, bytes } = flight;
      const part = seconds > 0 ? (now - sent) / seconds : 1;
      const end = fate === 'sent' ? 1 : DEATH[fate] + spread(number * 7) * 0.2;
      const x = (at: number): number => END + (up ? at : 1 - at) * length;
      const y = lane(up, height, spread(number));
      if (part >= end) {
        if (fate !== 'sent') this.#crosses.push({ x: x(end), y, born: seen });
        return false;
      }
      const radius = 1.6 + Math.sqrt(bytes) / 10;
      const tail = x(Math.max(0, part - TAIL / length));
      context.strokeStyle = context.fillStyle = dot;
      context.globalAlpha = 0.35;
      context.lineWidth = radius;
      context.beginPath();
      context.moveTo(tail, y);
      context.lineTo(x(part), y);
      context.stroke();
      context.globalAlpha = 1;
      context.beginPath();
      context.arc(x(part), y, radius, 0, 2 * Math.PI);
      context.fill();
      return true;
    });
    this.#mark(context, color('bad'), seen);
  }

  #ends(
    context: CanvasRenderingContext2D,
    width: number,
    height: number,
    color: (name: string) => string,
  ): void {
    context.strokeStyle = color('line');
    context.lineWidth = 1;
    context.setLineDash([2, 4]);
    context.beginPath();
    context.moveTo(END + NAME, height / 2);
    context.lineTo(width - END - NAME, height / 2);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = color('faint');
    context.font = '10px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    context.fillText('client', END, height / 2);
    context.textAlign = 'right';
    context.fillText('server', width - END, height / 2);
    context.fillStyle = color('idle');
    for (const left of [END - 6, width - END + 2]) context.fillRect(left, 4, 4, height - 8);
  }

  #mark(context: CanvasRenderingContext2D, color: string, seen: number): void {
    this.#crosses = this.#crosses.filter(({ born }) => seen - born < CROSS_SECONDS);
    context.strokeStyle = color;
    context.lineWidth = 2;
    for (const { x, y, born } of this.#crosses) {
      context.globalAlpha = 1 - (seen - born) / CROSS_SECONDS;
      context.beginPath();
      context.moveTo(x - 4, y - 4);
      context.lineTo(x + 4, y + 4);
      context.moveTo(x - 4, y + 4);
      context.lineTo(x + 4, y - 4);
      context.stroke();
    }
    context.globalAlpha = 1;
  }
}

/** Returns a number from 0 to 1 that is the same for the same whole number and unlike its neighbours'. */
const spread = (number: number): number => (number * 0.618034) % 1;

/** Packets to the server fly in the upper half. */
const lane = (up: boolean, height: number, at: number): number =>
  (up ? 0 : height / 2) + 8 + at * (height / 2 - 16);
