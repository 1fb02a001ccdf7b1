import type { GameClient, MessageValue, ReceivedEvent } from 'causeway-net';
import {
  ClockSync,
  InputSender,
  Interpolation,
  Prediction,
  SnapshotClient,
  type Entity,
  type GameCore,
} from 'causeway-net/game';
import type { Wish } from './controls.js';
import { OrderedStream } from './ordered.js';
import {
  BODY_METRE,
  FIRST_NAME,
  HEIGHT,
  METRE,
  ROUND,
  ROUND_SECONDS,
  SPEED_LIMIT,
  TICKS_PER_SECOND,
  TICKS_PER_SNAPSHOT,
  WIDTH,
  entities,
  type messages,
} from './schema.js';
import type { Place, Round, Scene, SeenBody, SeenPlayer, Shot } from './view.js';

export type Player = MessageValue<typeof entities, 'player'>;
export type Body = MessageValue<typeof entities, 'body'>;
export type Command = MessageValue<typeof entities, 'command'>;
type Known = Entity<typeof entities>;
type World = ReadonlyMap<number, Known>;

/** The states around a moment, and how far it is from the one to the other. */
interface Moment {
  readonly entries: readonly [from: World, to: World];
  readonly fraction: number;
  readonly tick: number;
}

/** On the second channel nothing is sent again: the next message replaces a lost one. */
const COMMANDS = 0;
const STATE = 1;
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

/** The client's side of the game, from the player's wishes to the scene on the screen. */
export class Play {
  /** The number of the server's states that arrived, and of those that the prediction had missed. */
  readonly counts = { states: 0, corrections: 0 };
  /** The size of the newest snapshot. */
  snapshotBytes = 0;
  me = -1;
  readonly clock;
  readonly prediction;
  readonly #inputs;
  readonly #snapshots;
  readonly #interpolation;
  /** The same states and shots as a byte stream would bring them. */
  readonly #stream = new OrderedStream<{ readonly world: World; readonly shots: readonly Shot[] }>(
    TICKS_PER_SNAPSHOT,
  );
  readonly #streamed;
  #streamedLast: readonly [tick: number, world: World] = [0, new Map()];
  #streamedShots: readonly Shot[] = [];
  #world: World = new Map();
  #own: Player | undefined;
  #shots: readonly Shot[] = [];
  /** The time of the newest shot that the stream has. */
  #shotsUntil = 0;
  #claim: { readonly at: Place; readonly time: number } | undefined;
  /** Is called with what the server says to a claim. */
  onanswer: (answer: Claim) => void = () => {};
  /** The tick time of the view that is shown. */
  #seen = 0;

  constructor(
    kit: GameCore,
    readonly client: GameClient<typeof messages>,
    readonly step: (player: Player, command: Command) => Player,
    readonly switches: Switches,
  ) {
    this.clock = new ClockSync(kit, { ticksPerSecond: TICKS_PER_SECOND });
    this.#inputs = new InputSender(kit, entities, 'command');
    this.#snapshots = new SnapshotClient(kit, entities, { maxEntities: ROUND + 1 });
    this.#interpolation = new Interpolation<World>(kit, { ticksPerSecond: TICKS_PER_SECOND });
    this.#streamed = new Interpolation<World>(kit, { ticksPerSecond: TICKS_PER_SECOND });
    this.prediction = new Prediction(kit, entities, { input: 'command', state: 'player' });
    client.addEventListener('message', this.#receive);
  }

  readonly #receive = ({ message }: ReceivedEvent<typeof messages>): void => {
    const now = seconds();
    if (message.type === 'welcome') this.me = message.value.player;
    if (message.type === 'answer') this.onanswer(message.value);
    if (message.type === 'world') this.#take(message.value, now);
    if (message.type === 'shot')
      this.#shots = [...this.#shots, shotOf(message.value, now)].slice(-SHOTS);
  };

  /** Takes no more messages: the client plays another game now. */
  leave(): void {
    this.client.removeEventListener('message', this.#receive);
  }

  #take(world: MessageValue<typeof messages, 'world'>, now: number): void {
    this.clock.receive(world.echo, now);
    const report = this.#inputs.receive(world.report);
    if (report) this.clock.adjust(report.tick, report.earlyTicks, now);
    this.snapshotBytes = world.snapshot.length;
    if (this.#snapshots.receive(world.snapshot) !== 'ok') return;
    const tick = this.#snapshots.tick()!;
    const known = new Map(this.#world);
    for (const event of this.#snapshots.events()) {
      if (event.type === 'removed') known.delete(event.entity);
      else known.set(event.entity, event.state);
    }
    this.#world = known;
    this.#interpolation.receive(tick, known, now);
    const shots = this.#shots.filter(({ time }) => time > this.#shotsUntil);
    this.#shotsUntil = now;
    const { rtt, lossReceived: loss } = this.client.stats();
    this.#stream.receive(tick, { world: known, shots }, now, { rtt, loss });
    const own = known.get(this.me);
    if (own?.type !== 'player') return;
    this.#own ??= own.value;
    this.counts.states++;
    if (!this.prediction.correct(tick, own.value)) return;
    this.counts.corrections++;
    this.#own = this.prediction.replay(this.#own, this.step);
  }

  /** Lets time pass: plays the ticks that are due with the player's wish. */
  update(wish: Wish, now: number): void {
    this.clock.update(now);
    for (const [tick, { world, shots }] of this.#stream.take(now)) {
      this.#streamedLast = [tick, world];
      this.#streamed.receive(tick, world, now);
      const seen = shots.map((shot) => ({ ...shot, time: now }));
      this.#streamedShots = [...this.#streamedShots, ...seen].slice(-SHOTS);
    }
    let played = false;
    for (const { type, tick } of this.clock.events()) {
      if (type === 'restart') this.prediction.reset();
      else this.#tick(tick, wish);
      played = true;
    }
    if (played && this.client.state === 'connected')
      this.client.send(STATE, 'inputs', {
        stamp: this.clock.transmit(now),
        body: this.#inputs.transmit(400) ?? new Uint8Array(),
      });
    else if (!played && !this.clock.stats(now).synced && this.client.state === 'connected')
      this.client.send(STATE, 'inputs', {
        stamp: this.clock.transmit(now),
        body: new Uint8Array(),
      });
  }

  /**
   * Cheats: claims to be at the far end of the arena, at a speed that nobody has, and believes it until the server's next
   * state. Returns the claim, or undefined while there is no game.
   */
  cheat(now: number): Claim | undefined {
    if (!this.#own || this.client.state !== 'connected') return undefined;
    const left = this.#own.at.x > (WIDTH * METRE) / 2;
    const claim = {
      at: { x: (left ? 2 : WIDTH - 2) * METRE, y: (HEIGHT * METRE) / 2 },
      speed: { x: left ? SPEED_LIMIT : -SPEED_LIMIT, y: 0 },
    };
    this.client.send(COMMANDS, 'claim', claim);
    this.#own = { ...this.#own, ...claim };
    this.#claim = { at: between(claim.at, claim.at, 0, METRE), time: now };
    return claim;
  }

  /** Says how the others shall call the player. */
  call(name: string): void {
    if (this.client.state === 'connected') this.client.send(COMMANDS, 'call', { name });
  }

  #tick(tick: number, { move, aim, fire }: Wish): void {
    const age = this.switches.compensation ? Math.round((tick - this.#seen) * 4) : 0;
    const command = { move, aim, fire, age: Math.min(1023, Math.max(0, age)) };
    this.#inputs.add(tick, command);
    if (!this.#own) return;
    this.#own = this.step(this.#own, command);
    this.prediction.add(tick, command, this.#own);
  }

  #nameOf(player: number, world: World): string {
    if (player === this.me) return 'You';
    const named = world.get(FIRST_NAME + player);
    return named?.type === 'name' ? named.value.name : `Player ${player + 1}`;
  }

  /** Returns how the round stands, and who has won the one before. */
  #round(world: World, now: number): Round | undefined {
    const round = world.get(ROUND);
    if (round?.type !== 'round') return undefined;
    const { ends, winner, bodies } = round.value;
    const secondsLeft = Math.max(0, (ends - this.clock.serverTime(now)) / TICKS_PER_SECOND);
    return {
      secondsLeft,
      secondsPassed: ROUND_SECONDS - secondsLeft,
      won: winner > 0 ? { name: this.#nameOf(winner - 1, world), bodies } : undefined,
    };
  }

  /** Returns where the server last said that the player is, in metres. */
  truth(): Place | undefined {
    const own = this.#world.get(this.me);
    return own?.type === 'player' ? between(own.value.at, own.value.at, 0, METRE) : undefined;
  }

  /** Returns the scene to show now. */
  scene(now: number): Scene {
    const moment = this.#moment(
      this.#interpolation,
      [this.#snapshots.tick() ?? 0, this.#world],
      now,
    );
    this.#seen = moment.tick;
    return this.#compose(moment, this.#shots, now);
  }

  /** Returns the scene as it would be if a byte stream brought the states. The own player is predicted all the same. */
  streamedScene(now: number): Scene {
    const moment = this.#moment(this.#streamed, this.#streamedLast, now);
    return this.#compose(moment, this.#streamedShots, now);
  }

  /** Returns what is to be seen now: the newest state where nothing is interpolated. */
  #moment(
    interpolation: Interpolation<World>,
    [tick, world]: readonly [tick: number, world: World],
    now: number,
  ): Moment {
    const view = this.switches.interpolation ? interpolation.view(now) : undefined;
    if (!view) return { entries: [world, world], fraction: 0, tick };
    return { ...view, tick: view.from + (view.to - view.from) * view.fraction };
  }

  #compose({ entries, fraction, tick }: Moment, shots: readonly Shot[], now: number): Scene {
    const { prediction, ghost } = this.switches;
    const [from, to] = entries;
    const players: SeenPlayer[] = [];
    const bodies: SeenBody[] = [];
    for (const [id, a] of from) {
      const b = to.get(id) ?? a;
      if (a.type === 'player' && b.type === 'player')
        players.push(
          seenPlayer(
            this.#nameOf(id, to),
            id,
            b.value,
            between(a.value.at, b.value.at, fraction, METRE),
          ),
        );
      if (a.type === 'body' && b.type === 'body')
        bodies.push({
          ...between(a.value.at, b.value.at, fraction, BODY_METRE),
          owner: b.value.owner - 1,
        });
    }
    if (prediction && this.#own) {
      const own = this.prediction.smooth(this.#own, now);
      const part = Math.min(1, this.clock.clientTime(now) % 1);
      const at = { x: own.at.x + own.speed.x * part, y: own.at.y + own.speed.y * part };
      const index = players.findIndex(({ number }) => number === this.me);
      players.splice(index < 0 ? players.length : index, 1, {
        ...seenPlayer('You', this.me, own, between(at, at, 0, METRE)),
      });
    }
    return {
      me: this.me,
      players,
      bodies,
      shots,
      behindSeconds: Math.max(0, this.clock.serverTime(now) - tick) / TICKS_PER_SECOND,
      round: this.#round(to, now),
      ghost: ghost ? this.truth() : undefined,
      claim: this.#claim && now - this.#claim.time < CLAIM_SECONDS ? this.#claim.at : undefined,
    };
  }
}

const between = (from: Place, to: Place, fraction: number, metre: number): Place => ({
  x: (from.x + (to.x - from.x) * fraction) / metre,
  y: (from.y + (to.y - from.y) * fraction) / metre,
});

const seenPlayer = (name: string, number: number, player: Player, at: Place): SeenPlayer => ({
  ...at,
  number,
  name,
  aim: player.aim,
  stunned: player.stun > 0,
  bot: player.bot,
});

const shotOf = (
  { player, from, to }: MessageValue<typeof messages, 'shot'>,
  time: number,
): Shot => ({
  by: player,
  from: between(from, from, 0, BODY_METRE),
  to: between(to, to, 0, BODY_METRE),
  time,
});

export const seconds = (): number => performance.now() / 1000;
