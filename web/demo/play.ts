import type { GameClient, MessageValue, ReceivedEvent } from 'causeway-net';
import { playGame, type PlayedGame, type View } from 'causeway-net/game';
import type { Wish } from './controls.js';
import { SHOTS, rules, type Command, type Entities, type Player } from './rules.js';
import {
  BODY_METRE,
  HEIGHT,
  METRE,
  ROUND_SECONDS,
  SPEED_LIMIT,
  TICKS_PER_SECOND,
  WIDTH,
  type entities,
  type messages,
} from './schema.js';
import { Streamed } from './streamed.js';
import type { Place, Round, Scene, SeenBody, SeenPlayer, Shot } from './view.js';

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

/** The client's side of the game. */
export class Play {
  game!: PlayedGame<typeof entities, 'player', 'command'>;
  /** The scene that is shown, from the first frame on. */
  scene!: Scene;
  /** The scene as a byte stream would bring it, while the page shows that. */
  streamedScene: Scene | undefined;
  /** The size of the newest snapshot, and its number. */
  snapshotBytes = 0;
  #newest = 0;
  #shots: readonly Shot[] = [];
  /** The shots that came after the newest snapshot. */
  #fresh: Shot[] = [];
  #claim: { readonly at: Place; readonly until: number } | undefined;
  /** A claim that the page has still to believe. */
  #lie: Claim | undefined;
  /** Is called with what the server says to a claim. */
  onanswer: (answer: Claim) => void = () => {};

  private constructor(
    readonly client: GameClient<typeof messages>,
    readonly screen: Screen,
    readonly streamed: Streamed,
  ) {}

  static async begin(client: GameClient<typeof messages>, screen: Screen): Promise<Play> {
    const play = new Play(client, screen, await Streamed.begin());
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
    this.streamed.stop();
  }

  /** Plays a tick: without prediction, nothing happens before the server says so; a lie happens once. */
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
    this.streamed.receive(newest, { message, shots: this.#fresh }, now, { rtt, loss });
    this.#shots = [...this.#shots, ...this.#fresh].slice(-SHOTS);
    this.#fresh = [];
  };

  readonly #follow = (): void => this.streamed.follow(this.client.state);

  #draw(shown: Entities): void {
    const { split, switches } = this.screen;
    const { view, serverTick } = this.game.stats();
    this.game.interpolates = switches.interpolation;
    this.scene = this.#compose(shown, this.#shots, view, serverTick);
    this.streamed.update(seconds());
    if (split) {
      const late = this.streamed.look(switches.interpolation);
      // The own player is predicted in both halves.
      const own = switches.prediction ? shown.filter(({ id }) => id === this.game.me) : [];
      const others = this.streamed.entities.filter(({ id }) => id !== own[0]?.id);
      const { shots } = this.streamed;
      this.streamedScene = this.#compose([...own, ...others], shots, late, serverTick);
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
