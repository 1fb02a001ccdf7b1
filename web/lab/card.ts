import { DASHES } from './charts.js';
import { PacketRow } from '../src/overlay/packet_row.js';
import { element, fill, setText } from './dom.js';
import type { Traffic } from './lab.js';
import { ControlPanel } from './control.js';
import { nameOf } from './protocols.js';
import { CLIENT, SERVER, type Track } from './track.js';
import { why } from './why.js';
import { Wire } from './wire.js';
import { duration, waitingText } from './words.js';

/** The least seconds of the viewer's clock for which an explanation is shown, so that it can be read. */
const WHY_SECONDS = 2;

/** A column of the lab on the page. */
export class Card {
  onchoose: (protocol: string) => void = () => {};
  onremove: () => void = () => {};
  readonly root: HTMLElement;
  readonly #wire: Wire;
  readonly #control: ControlPanel;
  /** The newest packets of the client and of the server. */
  readonly #packets: readonly PacketRow[];
  #explained = -WHY_SECONDS;

  constructor(place: number) {
    const template = element<HTMLTemplateElement>('column');
    this.root = template.content.firstElementChild!.cloneNode(true) as HTMLElement;
    this.root.style.setProperty('--mine', `var(--column-${place})`);
    this.#part('path').setAttribute('stroke-dasharray', DASHES[place]!.join(' '));
    this.#wire = new Wire(this.#part('.wire'));
    this.#control = new ControlPanel(this.#part('.control'));
    const colors = { arrived: 'var(--mine)', missing: 'var(--bad)' };
    this.#packets = ['Client', 'Server'].map(
      (end) => new PacketRow(this.#part('.packets'), `${end}\u2019s packet`, colors),
    );
    const choice = this.#part<HTMLSelectElement>('.protocol');
    choice.addEventListener('change', () => this.onchoose(choice.value));
    this.#part('.remove').addEventListener('click', () => this.onremove());
  }

  /** Shows another run, or the same one from its beginning; the column may have any of the protocols. */
  reset(track: Track, removable: boolean, protocols: readonly string[]): void {
    this.#wire.clear();
    const choice = this.#part<HTMLSelectElement>('.protocol');
    if (choice.length !== protocols.length)
      fill(
        choice,
        protocols.map((protocol) => [protocol, nameOf(protocol)]),
      );
    choice.value = track.protocol;
    this.#part('.control').title = track.controls;
    this.#part<HTMLButtonElement>('.remove').disabled = !removable;
    this.#part('.remove').ariaLabel = `Remove ${nameOf(track.protocol)}`;
    this.#explained = -WHY_SECONDS;
  }

  /** Draws the packets; `now` is the time of the run, `seen` the viewer's time, in seconds. */
  draw(track: Track, now: number, seen: number): void {
    this.#wire.add(track.flights.splice(0), now);
    this.#wire.draw(now, seen);
  }

  /** Shows words and figures. They change more slowly than the dots, so that they can be read. */
  tell(track: Track, latencyOf: Traffic, now: number, seen: number): void {
    const latencies = track.latencies[latencyOf];
    for (const [name, end] of [
      ['client', CLIENT],
      ['server', SERVER],
    ] as const) {
      const wait = track.waits[end];
      const line = this.#part(`.${name}`);
      line.dataset['kind'] = wait.kind;
      setText(line.lastElementChild!, waitingText(wait, now));
    }
    setText(this.#part('.median'), duration(latencies.quantile(0.5)));
    setText(this.#part('.p99'), duration(latencies.quantile(0.99)));
    this.#control.show(track.control, track.settings.blocks);
    const packets = [track.packet(CLIENT), track.packet(SERVER)];
    // Nothing is shown for a protocol whose heads cannot be read.
    this.#part('.packets').hidden = packets.every((packet) => !packet);
    packets.forEach((packet, end) => packet && this.#packets[end]!.show(packet));
    const bytes = track.bytesPerMessage;
    setText(this.#part('.bytes'), Number.isNaN(bytes) ? '–' : bytes.toFixed(0));
    setText(this.#part('.lost'), String(track.lost + track.overflowed));
    this.#part('.given-up').hidden = track.givenUp === 0;
    setText(this.#part('.given-up dd'), String(track.givenUp));
    if (seen - this.#explained < WHY_SECONDS) return;
    this.#explained = seen;
    setText(this.#part('.why p'), why(track.protocol, track.situation));
  }

  #part<Type extends HTMLElement>(selector: string): Type {
    return this.root.querySelector<Type>(selector)!;
  }
}
