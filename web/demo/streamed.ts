import type { GameClient, Message } from 'causeway-net';
import { playGame, type PlayedGame, type View } from 'causeway-net/game';
import { OrderedStream, type Line } from './ordered.js';
import { SHOTS, rules, type Entities } from './rules.js';
import type { entities, messages } from './schema.js';
import type { Shot } from './view.js';

type Client = GameClient<typeof messages>;

/** A connection that brings only what it is given, and sends nothing. */
class Feed extends EventTarget {
  readonly writable = false;
  state: Client['state'] = 'connected';

  tell(type: 'state' | 'message', members: object): void {
    this.dispatchEvent(Object.assign(new Event(type), members));
  }
}

/** The message of a snapshot, and the shots that came with it. */
interface Packet {
  readonly message: Message<typeof messages>;
  readonly shots: readonly Shot[];
}

/** The game as a byte stream would bring it: the kit plays it once more, from the same messages, late and in order. */
export class Streamed {
  entities: Entities = [];
  shots: readonly Shot[] = [];
  readonly #feed = new Feed();
  #stream = new OrderedStream<Packet>();
  #game!: PlayedGame<typeof entities, 'round', 'command'>;
  #frame = (): void => {};

  static async begin(): Promise<Streamed> {
    const streamed = new Streamed();
    streamed.#game = await playGame(streamed.#feed as unknown as Client, {
      ...rules,
      // It predicts nobody: its own player is one of the others.
      player: 'round',
      step: (round) => round,
      keys: () => ({ move: { x: 0, y: 0 }, aim: { x: 0, y: 0 }, fire: false, compensate: false }),
      draw: ({ entities: shown }) => (streamed.entities = shown),
      schedule: (frame) => (streamed.#frame = frame),
    });
    return streamed;
  }

  /** Takes what came over the connection: the snapshot of this number. */
  receive(number: number, packet: Packet, now: number, line: Line): void {
    this.#stream.receive(number, packet, now, line);
  }

  /** Begins anew with each connection, as the kit does. */
  follow(state: Client['state']): void {
    if (state === 'requesting') this.#stream = new OrderedStream();
    this.#feed.state = state;
    this.#feed.tell('state', { state });
  }

  /** Lets time pass. */
  update(now: number): void {
    for (const { message, shots } of this.#stream.take(now)) {
      this.#feed.tell('message', { message });
      this.shots = [...this.shots, ...shots.map((shot) => ({ ...shot, time: now }))].slice(-SHOTS);
    }
  }

  /** Makes `entities` what is shown now, and returns its moment. */
  look(interpolates: boolean): View {
    this.#game.interpolates = interpolates;
    this.#frame();
    return this.#game.stats().view;
  }

  stop(): void {
    this.#game.stop();
  }
}
