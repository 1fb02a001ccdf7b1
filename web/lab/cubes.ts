import './style.css';
import './cubes.css';
import { openTransport } from '../src/transports/race.js';
import type { SessionTransport } from '../src/transports/links.js';
import { CubesScene } from './cubes_scene.js';
import { CubesView, type Rate } from './cubes_view.js';
import { element, setText } from './dom.js';
import { CUBES_RATE, LINE_MAX_DATAGRAM } from './generated.js';
import { listen } from './keys.js';
import type { Lab } from './lab.js';
import { whyNot, whyOver } from './links.js';
import { start } from './start.js';

/** The codings in the order of their numbers: what a snapshot has, in words, and what the article says. */
const CODINGS: readonly (readonly [name: string, note: string, article: string])[] = [
  ['Floats', 'position, orientation, velocity and a bit: 321 bits a cube', '17 380'],
  ['Smallest three', 'orientation in 29 bits instead of 128', '5000 less'],
  ['At rest flag', 'velocity in 33 bits, for cubes that move', ''],
  ['No velocity', 'at 60 a second nobody misses it', ''],
  ['Bounded position', '50 bits instead of 96: 80 bits a cube', 'a quarter'],
  ['Changed cubes', 'what differs from the newest snapshot acked, and a bit each', ''],
  ['Small differences', 'CW_SNAPSHOT_DIFFERENCES: by how much each field differs', '256'],
  ['Prediction', 'CW_SNAPSHOT_PREDICTED: from where the motion leads', ''],
  ['Range coder', 'CW_SNAPSHOT_RANGE_CODED: likely changes cost less', '25 % less'],
];
/** A visitor sees this coding first, which any line carries. */
const FIRST = 6;
/** The seconds for which each coding is tried in turn. */
const TRY_SECONDS = 3;
const WORDS_MS = 250;
/** The seconds without a snapshot after which the server counts as gone. */
const SILENCE_SECONDS = 3;
/** A drag of this many pixels sends the player at full speed. */
const DRAG = 40;
/** The left end of the bars, in kbit/s; they are logarithmic. */
const LEAST = 100;
const MOST = 20_000;

const KEYS: Readonly<Record<string, readonly [east: number, north: number]>> = {
  arrowup: [0, 1],
  w: [0, 1],
  arrowdown: [0, -1],
  s: [0, -1],
  arrowleft: [-1, 0],
  a: [-1, 0],
  arrowright: [1, 0],
  d: [1, 0],
};

/** The page with the cubes. */
class CubesPage {
  readonly view: CubesView;
  coding = FIRST;
  /** The last rate of each coding. */
  readonly rates: (Rate | undefined)[] = [];
  transport: SessionTransport | undefined;
  readonly #scene = new CubesScene(element<HTMLCanvasElement>('scene'));
  readonly #relay = element<HTMLInputElement>('relay');
  readonly #rows: readonly HTMLTableRowElement[];
  readonly #held = new Set<string>();
  #opening = new AbortController();
  /** The part of a tick that is to pass before the next one, and the times of frames and words, in milliseconds. */
  #rest = 0;
  #seen = 0;
  #wordsAt = 0;
  /** The time when something last came. */
  #heard = 0;
  /** The time at which the next coding is tried; 0: none is. */
  #climbAt = 0;

  constructor(lab: Lab) {
    this.view = new CubesView(lab, FIRST);
    this.#rows = CODINGS.map((_, coding) => this.#row(coding));
    this.#relay.value = new URL('/', location.href).href;
    this.#listen();
    this.choose(FIRST);
    void this.connect();
    requestAnimationFrame(this.#frame);
  }

  /** Opens a link to the relay. */
  async connect(): Promise<void> {
    this.#opening.abort();
    const { signal } = (this.#opening = new AbortController());
    this.transport?.close();
    this.transport = undefined;
    element('failure').hidden = true;
    const relay = this.#relay.value;
    try {
      const transport = await openTransport(relay, { maxDatagramSize: LINE_MAX_DATAGRAM, signal });
      this.transport = transport;
      this.#heard = performance.now();
      this.view.listen(transport);
      void transport.closed.then((close) => this.#over(transport, whyOver(relay, close)));
    } catch (error) {
      if (!signal.aborted) this.#fail(whyNot(relay, error));
    }
  }

  /** Asks for another coding. */
  choose(coding: number): void {
    this.coding = Math.max(0, Math.min(CODINGS.length - 1, coding));
    this.view.choose(this.coding);
    this.#heard = performance.now();
    this.#rows.forEach((row, i) => {
      row.className = i === this.coding ? 'chosen' : '';
      row.querySelector('input')!.checked = i === this.coding;
    });
    for (const [id, end] of [
      ['less', 0],
      ['more-coding', CODINGS.length - 1],
    ] as const)
      element<HTMLButtonElement>(id).disabled = this.coding === end;
  }

  /** Tries each coding in turn, or stops that. */
  #climb(on: boolean): void {
    this.#climbAt = on ? performance.now() + 1000 * TRY_SECONDS : 0;
    element('climb').ariaPressed = String(on);
    if (on) this.choose(0);
  }

  #row(coding: number): HTMLTableRowElement {
    const [name, note, article] = CODINGS[coding]!;
    const row = document.querySelector('tbody')!.insertRow();
    const head = document.createElement('th');
    head.scope = 'row';
    const label = head.appendChild(document.createElement('label'));
    const input = label.appendChild(document.createElement('input'));
    Object.assign(input, { type: 'radio', name: 'coding', value: String(coding) });
    input.addEventListener('change', () => this.#pick(coding));
    label.appendChild(document.createElement('b')).textContent = name;
    label.appendChild(document.createElement('small')).textContent = note;
    row.append(head);
    row.insertCell().className = 'rate';
    row.insertCell().textContent = article;
    return row;
  }

  /** Chooses a coding for a visitor, who then wants no other. */
  #pick(coding: number): void {
    this.#climb(false);
    this.choose(coding);
  }

  readonly #frame = (time: number): void => {
    requestAnimationFrame(this.#frame);
    const passed = Math.min(time - this.#seen, 100);
    this.#seen = time;
    this.#rest += (passed * CUBES_RATE) / 1000;
    for (; this.#rest >= 1; this.#rest--) if (this.transport) this.view.tick(this.transport);
    this.#scene.draw(this.view.figures);
    if (time - this.#wordsAt > WORDS_MS) this.#tell(time);
  };

  #tell(time: number): void {
    this.#wordsAt = time;
    const rate = this.view.rate();
    if (rate) {
      this.#heard = time;
      this.rates[this.coding] = rate;
      const [, cell] = this.#rows[this.coding]!.cells;
      setText(cell!, Math.round(rate.kbit).toLocaleString('en').replaceAll(',', '\u2009'));
      const share = Math.log(rate.kbit / LEAST) / Math.log(MOST / LEAST);
      const row = this.#rows[this.coding]!;
      row.style.setProperty('--share', String(Math.max(0, Math.min(1, share))));
    }
    setText(element('state'), this.#stateText(rate));
    if (this.#climbAt > 0 && time > this.#climbAt) {
      this.#climbAt = time + 1000 * TRY_SECONDS;
      if (this.coding === CODINGS.length - 1) this.#climb(false);
      else this.choose(this.coding + 1);
    }
    if (this.view.full) this.#fail(`The lab server behind ${this.#relay.value} has no place left.`);
    else if (this.transport && time - this.#heard > 1000 * SILENCE_SECONDS)
      this.#fail(
        `The relay at ${this.#relay.value} is there, but no lab server with cubes answers behind it.`,
      );
    else if (rate) element('failure').hidden = true;
  }

  #stateText(rate: Rate | undefined): string {
    if (!rate) return this.transport ? 'Waiting for snapshots.' : 'Connecting.';
    const kind = this.transport?.kind === 'webrtc' ? 'WebRTC' : 'a WebSocket';
    const part = Math.round(100 * rate.whole);
    const missing = part < 90 ? ' The rest does not fit through, or comes too late.' : '';
    return `Over ${kind}, ${part} of 100 snapshots come whole.${missing}`;
  }

  #over(transport: SessionTransport, why: string): void {
    if (this.transport !== transport) return;
    this.transport = undefined;
    this.#fail(why);
  }

  #fail(why: string): void {
    setText(element('failure'), why);
    element('failure').hidden = false;
  }

  #steer(east: number, north: number): void {
    const by = Math.max(1, Math.hypot(east, north));
    this.view.east = east / by;
    this.view.north = north / by;
  }

  #listen(): void {
    const climb = (): void => this.#climb(this.#climbAt === 0);
    const less = (): void => this.#pick(this.coding - 1);
    const more = (): void => this.#pick(this.coding + 1);
    element('climb').addEventListener('click', climb);
    element('less').addEventListener('click', less);
    element('more-coding').addEventListener('click', more);
    listen({ t: climb, ',': less, '.': more });
    this.#relay.addEventListener('change', () => void this.connect());
    const keys = (): void => {
      const held = [...this.#held].map((key) => KEYS[key]!);
      this.#steer(
        held.reduce((all, [east]) => all + east, 0),
        held.reduce((all, [, north]) => all + north, 0),
      );
    };
    addEventListener('keydown', (event) => {
      const key = event.key.toLowerCase();
      const { target, ctrlKey, metaKey, altKey } = event;
      // Arrows choose among the codings when one of them has the focus.
      const taken =
        target instanceof HTMLInputElement && (target.type === 'url' || key.startsWith('arrow'));
      if (!KEYS[key] || taken || ctrlKey || metaKey || altKey) return;
      event.preventDefault();
      this.#held.add(key);
      keys();
    });
    addEventListener('keyup', ({ key }) => {
      if (this.#held.delete(key.toLowerCase())) keys();
    });
    addEventListener('blur', () => {
      this.#held.clear();
      keys();
    });
    this.#drag(element('scene'));
  }

  /** The player goes to where the finger is. */
  #drag(canvas: HTMLElement): void {
    const to = ({ offsetX, offsetY }: PointerEvent): void => {
      const [x, y] = this.#scene.player(this.view.figures);
      this.#steer((offsetX - x) / DRAG, (y - offsetY) / DRAG);
    };
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      to(event);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) to(event);
    });
    canvas.addEventListener('lostpointercapture', () => this.#steer(0, 0));
  }
}

await start((lab) => new CubesPage(lab));
