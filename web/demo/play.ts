import type { GameClient, Message, MessageValue, ReceivedEvent } from 'causeway-net';
import { playGame, type GameEntity, type PlayedGame, type View } from 'causeway-net/game';
import type { Wish } from './controls.js';
import { OrderedStream } from './ordered.js';
import {
  BODY_METRE,
  HEIGHT,
  METRE,
  ROUND,
  ROUND_SECONDS,
  SPEED_LIMIT,
  TICKS_PER_SECOND,
  WIDTH,
  entities,
  type messages,
} from './schema.js';
import type { Place, Round, Scene, SeenBody, SeenPlayer, Shot } from './view.js';

export type Player = MessageValue<typeof entities, 'player'>;
export type Command = MessageValue<typeof entities, 'command'>;
type Entities = readonly GameEntity<typeof entities, 'command'>[];
type Client = GameClient<typeof messages>;

/** A player or a body that seems to move faster than this, in metres from one state to the next, has been put there. */
const SMOOTH_METRES = 4;
const rules = {
  entities,
  input: 'command',
  maxEntities: ROUND + 1,
  smooth: { player: { at: SMOOTH_METRES * METRE }, body: { at: SMOOTH_METRES * BODY_METRE } },
} as const;

const SHOTS = 32;
/** The time for which the place that was claimed is shown. */
const CLAIM_SECONDS = 3;

/** The state of the page's switches. */
export interface Switches {
  prediction: boolean;
  interpolation: boolean;
  compensation: boolean;
  ghost: boolean;
}

/** The place and speed that a cheating client claims, or that the server says to it. */
export type Claim = MessageValue<typeof messages, 'claim'>;

/** The page around the game. */
export interface Screen {
  readonly step: (player: Player, command: Command) => Player;
  readonly switches: Switches;
  /** True while the game is also shown as a byte stream brings it. */
  readonly split: boolean;
  wish(): Wish;
  draw(play: Play): void;
}

/** A connection that brings only what it is given, and sends nothing. */
class Feed extends EventTarget {
  readonly writable = false;
  state: Client['state'] = 'connected';

  enter(state: Client['state']): void {
    this.state = state;
    this.dispatchEvent(new Event('state'));
  }

  bring(message: Message<typeof messages>): void {
    this.dispatchEvent(Object.assign(new Event('message'), { message }));
  }
}

/** The message of a snapshot, and the shots that came before it. */
interface Packet {
  readonly message: Message<typeof messages>;
  readonly shots: readonly Shot[];
}

/** The client's side of the game: the kit plays it, and once more as a byte stream would bring it. */
export class Play {
  game!: PlayedGame<typeof entities, 'player', 'command'>;
  /** The scene that is shown, from the first frame on. */
  scene!: Scene;
  /** The scene as it is shown where a byte stream brings it, while the page shows it. */
  streamedScene: Scene | undefined;
  /** The size of the newest snapshot. */
  snapshotBytes = 0;
  /** Is called with what the server says to a claim. */
  onanswer: (answer: Claim) => void = () => {};
  #shots: readonly Shot[] = [];
  #streamed!: PlayedGame<typeof entities, 'round', 'command'>;
  readonly #feed = new Feed();
  #stream = new OrderedStream<Packet>();
  #streamedFrame = (): void => {};
  #streamedEntities: Entities = [];
  #streamedShots: readonly Shot[] = [];
  /** The shots that came after the newest snapshot, and its number. */
  #fresh: Shot[] = [];
  #newest = 0;
  #claim: { readonly at: Place; readonly until: number } | undefined;
  /** A claim that the page has still to believe. */
  #lie: Claim | undefined;

  private constructor(
    readonly client: Client,
    readonly screen: Screen,
  ) {}

  static async begin(client: Client, screen: Screen): Promise<Play> {
    const play = new Play(client, screen);
    play.#streamed = await playGame(play.#feed as unknown as Client, {
      ...rules,
      // It predicts nobody: its own player is one of the others.
      player: 'round',
      step: (round) => round,
      keys: () => ({ move: { x: 0, y: 0 }, aim: { x: 0, y: 0 }, fire: false, compensate: false }),
      draw: ({ entities: shown }) => (play.#streamedEntities = shown),
      schedule: (frame) => (play.#streamedFrame = frame),
    });
    play.game = await playGame(client, {
      ...rules,
      player: 'player',
      step: (player, command) => play.#step(player, command),
      keys: () => ({ ...screen.wish(), compensate: screen.switches.compensation }),
      draw: ({ entities: shown }) => play.#draw(shown),
    });
    client.addEventListener('message', play.#receive);
    client.addEventListener('state', play.#follow);
    return play;
  }

  /** Ends the game. The connection stays. */
  stop(): void {
    this.client.removeEventListener('message', this.#receive);
    this.client.removeEventListener('state', this.#follow);
    this.game.stop();
    this.#streamed.stop();
  }

  /** Without prediction, nothing that the player does happens before the server says so. */
  #step(player: Player, command: Command): Player {
    const lie = this.#lie;
    this.#lie = undefined;
    if (lie) return { ...player, ...lie };
    return this.screen.switches.prediction ? this.screen.step(player, command) : player;
  }

  readonly #receive = ({ message }: ReceivedEvent<typeof messages>): void => {
    const now = seconds();
    if (message.type === 'answer') this.onanswer(message.value);
    if (message.type === 'shot') this.#fresh.push(shotOf(message.value, now));
    if (message.type !== 'game_body') return;
    this.snapshotBytes = message.value.body.length;
    const { newest } = this.game.stats().snapshots;
    if (newest === this.#newest) return;
    this.#newest = newest;
    const { rtt, lossReceived: loss } = this.client.stats();
    this.#stream.receive(newest, { message, shots: this.#fresh }, now, { rtt, loss });
    this.#shots = [...this.#shots, ...this.#fresh].slice(-SHOTS);
    this.#fresh = [];
  };

  /** Begins anew with each connection, as the kit does. */
  readonly #follow = (): void => {
    if (this.client.state === 'requesting') this.#stream = new OrderedStream();
    this.#feed.enter(this.client.state);
  };

  #draw(shown: Entities): void {
    const now = seconds();
    for (const { message, shots } of this.#stream.take(now)) {
      this.#feed.bring(message);
      const seen = shots.map((shot) => ({ ...shot, time: now }));
      this.#streamedShots = [...this.#streamedShots, ...seen].slice(-SHOTS);
    }
    const { split, switches } = this.screen;
    this.game.interpolates = this.#streamed.interpolates = switches.interpolation;
    const { view, serverTick } = this.game.stats();
    this.scene = this.#compose(shown, this.#shots, view, serverTick);
    if (split) {
      this.#streamedFrame();
      // The own player is predicted in both halves.
      const { me } = this.game;
      const own = switches.prediction ? shown.filter(({ id }) => id === me) : [];
      const others = this.#streamedEntities.filter(({ id }) => id !== own[0]?.id);
      const late = this.#streamed.stats().view;
      const both = [...others, ...own];
      this.streamedScene = this.#compose(both, this.#streamedShots, late, serverTick);
    } else this.streamedScene = undefined;
    this.screen.draw(this);
  }

  /**
   * Cheats: claims to be at the far end of the arena, at a speed that nobody has, and believes it until the server's next
   * state. Returns the claim, or undefined while there is no game.
   */
  cheat(): Claim | undefined {
    const own = this.truth();
    if (!own || !this.client.writable) return undefined;
    const left = own.x > WIDTH / 2;
    this.#lie = {
      at: { x: (left ? 2 : WIDTH - 2) * METRE, y: (HEIGHT * METRE) / 2 },
      speed: { x: left ? SPEED_LIMIT : -SPEED_LIMIT, y: 0 },
    };
    this.client.send('claim', this.#lie);
    this.#claim = { at: inMetres(this.#lie.at, METRE), until: seconds() + CLAIM_SECONDS };
    return this.#lie;
  }

  /** Says how the others shall call the player. */
  call(name: string): void {
    if (this.client.writable) this.client.send('call', { name });
  }

  /** Returns where the server last said that the player is, in metres. */
  truth(): Place | undefined {
    const own = this.game.get(this.game.me ?? -1);
    return own?.type === 'player' ? inMetres(own.value.at, METRE) : undefined;
  }

  /** Returns what is to be seen of these entities, which are shown as they were at this view. */
  #compose(
    shown: Entities,
    shots: readonly Shot[],
    { from, to, fraction }: View,
    serverTick: number,
  ): Scene {
    const { me = -1 } = this.game;
    const players: SeenPlayer[] = [];
    const bodies: SeenBody[] = [];
    const nameOf = (id: number): string =>
      players.find(({ number }) => number === id)?.name ?? `Player ${id + 1}`;
    let round: Round | undefined;
    for (const { id, type, value } of shown) {
      if (type === 'body') {
        const { x, y } = value.at;
        bodies.push({ x: x / BODY_METRE, y: y / BODY_METRE, owner: value.owner - 1 });
      } else if (type === 'player')
        players.push({
          ...inMetres(value.at, METRE),
          number: id,
          name: id === me ? 'You' : value.name || nameOf(id),
          aim: value.aim,
          stunned: value.stun > 0,
          bot: value.bot,
        });
      else if (serverTick > 0) round = roundOf(value, serverTick, nameOf);
    }
    const { ghost } = this.screen.switches;
    const tick = from + (to - from) * fraction;
    return {
      me,
      players,
      bodies,
      shots,
      behindSeconds: Math.max(0, serverTick - tick) / TICKS_PER_SECOND,
      round,
      ghost: ghost ? this.truth() : undefined,
      claim: this.#claim && seconds() < this.#claim.until ? this.#claim.at : undefined,
    };
  }
}

/** Returns how the round stands, and who has won the one before. */
function roundOf(
  { ends, winner, bodies }: MessageValue<typeof entities, 'round'>,
  serverTick: number,
  nameOf: (player: number) => string,
): Round {
  const secondsLeft = Math.max(0, (ends - serverTick) / TICKS_PER_SECOND);
  return {
    secondsLeft,
    secondsPassed: ROUND_SECONDS - secondsLeft,
    won: winner > 0 ? { name: nameOf(winner - 1), bodies } : undefined,
  };
}

const inMetres = ({ x, y }: Place, metre: number): Place => ({ x: x / metre, y: y / metre });

const shotOf = (
  { player, from, to }: MessageValue<typeof messages, 'shot'>,
  time: number,
): Shot => ({ by: player, from: inMetres(from, BODY_METRE), to: inMetres(to, BODY_METRE), time });

export const seconds = (): number => performance.now() / 1000;
