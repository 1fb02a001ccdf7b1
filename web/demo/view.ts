import { prepare } from './canvas.js';
import { colorOf } from './colors.js';
import { STICK, type Stick } from './controls.js';

/** A place in the arena, in metres. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface SeenPlayer extends Place {
  readonly number: number;
  readonly name: string;
  readonly aim: Place;
  readonly stunned: boolean;
  readonly bot: boolean;
}

export interface SeenBody extends Place {
  /** The number of the player who owns the body; -1 without an owner. */
  readonly owner: number;
}

export interface Shot {
  readonly by: number;
  readonly from: Place;
  readonly to: Place;
  /** The time when the shot was seen first, in seconds. */
  readonly time: number;
}

/** The time of a round, and the winner of the one before. */
export interface Round {
  readonly secondsLeft: number;
  readonly secondsPassed: number;
  readonly won: { readonly name: string; readonly bodies: number } | undefined;
}

/** Everything that is on the screen now. */
export interface Scene {
  readonly me: number;
  readonly players: readonly SeenPlayer[];
  readonly bodies: readonly SeenBody[];
  readonly shots: readonly Shot[];
  readonly round: Round | undefined;
  /** The time by which the others are shown later than the server has them. */
  readonly behindSeconds: number;
  /** The place where the server last said that the player is. */
  readonly ghost: Place | undefined;
  /** The place where a player who cheats claimed to be. */
  readonly claim: Place | undefined;
}

export const ARENA = { width: 32, height: 18 };
const PLAYER_RADIUS = 1 / 2;
const BODY_RADIUS = 1 / 3;
const SHOT_SECONDS = 0.15;
/** A hit throws so many sparks, which fly so far for so long. */
const SPARKS = { count: 9, metres: 1.3, seconds: 0.45 } as const;
/** A shot that gets as far as this, in metres, has hit nothing. */
const SHOT_RANGE = 13.9;
/** The pixels of the radius of a stick's knob. */
const KNOB = 20;
/** The pixels of a name's height. */
const NAME_SIZE = 15;
/** The least pixels that a metre has on the screen. */
const LEAST_METRE = 24;
/** The least metres that are seen from left to right. */
const LEAST_WIDTH = 10;
/** The pixels above the arena, where its title would hide a player at the upper wall. */
const TITLE = 44;

/** A part of the canvas, in CSS pixels. */
interface Part extends Place {
  readonly width: number;
  readonly height: number;
}

type Prepared = ReturnType<typeof prepare>;

/** Draws scenes side by side, or one above the other where the canvas is high: each the arena around the player. */
export class View {
  /** The parts of the canvas, and where the player is drawn in each. */
  #parts: { readonly part: Part; readonly own: Place }[] = [];

  constructor(readonly canvas: HTMLCanvasElement) {}

  /** Returns where the player is drawn on the canvas, in the part that this place belongs to. */
  ownNear({ x, y }: Place): Place {
    const holds = this.#parts.find(
      ({ part }) => x < part.x + part.width && y < part.y + part.height,
    );
    return (holds ?? this.#parts.at(-1))?.own ?? { x: 0, y: 0 };
  }

  draw(scenes: readonly Scene[], sticks: readonly Stick[], now: number): void {
    const prepared = prepare(this.canvas);
    const { context, width, height, color } = prepared;
    const high = height > width;
    this.#parts = scenes.map((scene, i) => {
      const size = high
        ? { width, height: height / scenes.length }
        : { width: width / scenes.length, height };
      const part = { x: high ? 0 : i * size.width, y: high ? i * size.height : 0, ...size };
      context.save();
      context.beginPath();
      context.rect(part.x, part.y, part.width, part.height);
      context.clip();
      context.translate(part.x, part.y);
      const own = this.#scene(prepared, part, scene, now);
      context.restore();
      return { part, own: { x: part.x + own.x, y: part.y + own.y } };
    });
    context.fillStyle = color('text');
    for (const { part } of this.#parts.slice(1))
      context.fillRect(part.x - 1, part.y - 1, high ? width : 2, high ? 2 : height);
    context.strokeStyle = color('text');
    context.lineWidth = 2;
    for (const { middle, knob, held } of sticks) {
      context.globalAlpha = held ? 0.9 : 0.6;
      circle(context, middle, STICK);
      disc(context, knob, KNOB);
    }
    context.globalAlpha = 1;
  }

  /** Draws a scene into a part of the canvas; returns where the player is in it. */
  #scene(
    { context, color }: Prepared,
    { width, height }: Part,
    { me, players, bodies, shots, ghost, claim }: Scene,
    now: number,
  ): Place {
    const [floor, idle] = [color('floor'), color('idle')];
    const hue = (player: number): string => colorOf(player, floor);
    // The arena fills the canvas; the view follows the player where not all of it fits.
    const filling = Math.max(width / ARENA.width, height / ARENA.height);
    const metre = Math.max(LEAST_METRE, Math.min(filling, width / LEAST_WIDTH));
    const self = players.find(({ number }) => number === me);
    const shift = (size: number, all: number, at: number, most = 0): number =>
      all * metre <= size
        ? (size - all * metre) / 2
        : Math.min(most, Math.max(size - all * metre, size / 2 - at * metre));
    const left = shift(width, ARENA.width, self?.x ?? ARENA.width / 2);
    const top = shift(height, ARENA.height, self?.y ?? ARENA.height / 2, TITLE);
    context.translate(left, top);
    context.scale(metre, metre);

    context.lineWidth = 0.06;
    context.strokeStyle = color('line');
    for (let x = 0; x <= ARENA.width; x += 4) line(context, { x, y: 0 }, { x, y: ARENA.height });
    for (let y = 0; y <= ARENA.height; y += 4.5) line(context, { x: 0, y }, { x: ARENA.width, y });

    for (const body of bodies) {
      context.fillStyle = body.owner < 0 ? idle : hue(body.owner);
      disc(context, body, BODY_RADIUS);
      // The player's own bodies have a white heart, so that they are not told apart by colour alone.
      if (body.owner !== me) continue;
      context.fillStyle = '#fff';
      disc(context, body, BODY_RADIUS / 3);
    }
    for (const player of players)
      this.#player(context, player, me, hue(player.number), { text: color('text'), metre });
    if (ghost) dashed(context, ghost, color('text'));
    if (claim) {
      dashed(context, claim, color('bad'));
      context.fillStyle = color('bad');
      context.fillText('claimed', claim.x, claim.y - 0.8);
    }
    for (const shot of shots) {
      drawSparks(context, shot, (now - shot.time) / SPARKS.seconds, hue(shot.by));
      const age = (now - shot.time) / SHOT_SECONDS;
      if (age > 1) continue;
      context.globalAlpha = 1 - age;
      context.strokeStyle = hue(shot.by);
      context.lineWidth = 0.12;
      line(context, shot.from, shot.to);
    }
    return { x: left + (self?.x ?? 0) * metre, y: top + (self?.y ?? 0) * metre };
  }

  #player(
    context: CanvasRenderingContext2D,
    player: SeenPlayer,
    me: number,
    color: string,
    { text, metre }: { readonly text: string; readonly metre: number },
  ): void {
    const { number, name, aim, stunned } = player;
    const far = Math.hypot(aim.x, aim.y) || 1;
    context.strokeStyle = color;
    context.lineWidth = 0.18;
    line(context, player, {
      x: player.x + (aim.x / far) * 0.85,
      y: player.y + (aim.y / far) * 0.85,
    });
    context.fillStyle = color;
    context.globalAlpha = stunned ? 0.45 : 1;
    disc(context, player, PLAYER_RADIUS);
    context.globalAlpha = 1;
    context.lineWidth = 0.09;
    context.strokeStyle = text;
    if (number === me) circle(context, player, PLAYER_RADIUS + 0.12);
    context.fillStyle = text;
    context.font = `${NAME_SIZE / metre}px system-ui, sans-serif`;
    context.textAlign = 'center';
    context.fillText(name, player.x, player.y - 0.8);
  }
}

/** Draws the sparks of what a shot has hit; `age` goes from 0 to 1. */
function drawSparks(
  context: CanvasRenderingContext2D,
  { from, to, time }: Shot,
  age: number,
  color: string,
): void {
  if (age > 1 || Math.hypot(to.x - from.x, to.y - from.y) > SHOT_RANGE) return;
  context.globalAlpha = 1 - age;
  context.fillStyle = color;
  for (let i = 0; i < SPARKS.count; i++) {
    // The sparks of one shot lie apart, and those of another elsewhere.
    const angle = ((i + (time % 1)) / SPARKS.count) * 2 * Math.PI;
    const far = SPARKS.metres * (1 - (1 - age) ** 2) * (1 - (i % 3) / 4);
    disc(
      context,
      { x: to.x + Math.cos(angle) * far, y: to.y + Math.sin(angle) * far },
      0.1 * (1 - age / 2),
    );
  }
}

function line(context: CanvasRenderingContext2D, from: Place, to: Place): void {
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
  context.stroke();
}

function disc(context: CanvasRenderingContext2D, { x, y }: Place, radius: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

function dashed(context: CanvasRenderingContext2D, at: Place, color: string): void {
  context.setLineDash([0.15, 0.12]);
  context.strokeStyle = color;
  circle(context, at, PLAYER_RADIUS);
  context.setLineDash([]);
}

function circle(context: CanvasRenderingContext2D, { x, y }: Place, radius: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
}
