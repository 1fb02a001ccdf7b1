import { MisuseError, type CoreErrorCode } from '../errors.js';
import { nodeModule } from '../node.js';
import { WasmModule, WasmObject } from '../module.js';
import type { Struct } from '../memory.js';
import { loader, type LoadOptions } from '../wasm_source.js';
import { gameErrorCodes, type GameExports } from './generated.js';

/** A rotation, of length 1. */
export type Quaternion = readonly [number, number, number, number];

/** The fate of bytes that arrived. */
export type Received<Code extends string> = 'ok' | Lowercase<Code>;

/**
 * The game kit: one instance of causeway-game.wasm, or of causeway-game-server.wasm, which also has the parts of
 * servers. Make one with {@link loadGame}; one is enough for any number of objects.
 */
export class GameCore extends WasmModule<GameExports> {
  /** @internal */
  static async instantiate(module: WebAssembly.Module): Promise<GameCore> {
    return new GameCore(await WebAssembly.instantiate(module, {}));
  }

  private constructor(instance: WebAssembly.Instance) {
    super(instance, 'causeway-game.wasm');
  }

  /** Returns the number at a fraction between two numbers: 0 gives `from`, 1 gives `to`, and more lies beyond it. */
  lerp(from: number, to: number, fraction: number): number {
    return this.exports.cw_lerp(from, to, fraction);
  }

  /** Returns the angle at a fraction between two angles in radians, the shorter way round. */
  lerpAngle(from: number, to: number, fraction: number): number {
    return this.exports.cw_lerp_angle(from, to, fraction);
  }

  /**
   * Returns the value of a cubic between two numbers with velocities per second; `seconds` is the time from one to the
   * other.
   */
  hermite(
    from: { readonly value: number; readonly velocity: number },
    to: { readonly value: number; readonly velocity: number },
    seconds: number,
    fraction: number,
  ): number {
    const { exports } = this;
    return exports.cw_hermite(from.value, from.velocity, to.value, to.velocity, seconds, fraction);
  }

  /** Returns the rotation at a fraction between two rotations, quaternions of length 1, the shorter way round. */
  slerp(from: Quaternion, to: Quaternion, fraction: number): Quaternion {
    const at = this.memoryFor(32);
    [...from, ...to].forEach((part, i) => this.memory.view.setFloat32(at + 4 * i, part, true));
    this.exports.cw_slerp(at, at + 16, fraction, at);
    const part = (i: number): number => this.memory.view.getFloat32(at + 4 * i, true);
    return [part(0), part(1), part(2), part(3)];
  }

  /** Puts bytes into the module for one call. @internal */
  put(data: Uint8Array): number {
    const at = this.memoryFor(data.length);
    this.memory.bytes.set(data, at);
    return at;
  }

  /** Returns the struct of an event, undefined when there is none. @internal */
  next(struct: Struct, take: (out: number) => number): Record<string, number> | undefined {
    return take(this.scratch) ? this.memory.struct(this.scratch, struct.fields) : undefined;
  }

  /** @internal */
  protected override codeName(code: number): string | undefined {
    return gameErrorCodes[code] ?? super.codeName(code);
  }

  /**
   * Names the result of a receive function when it is 0 or one of `codes`, and throws it as an error otherwise.
   * @internal
   */
  received<Code extends CoreErrorCode>(code: number, ...codes: Code[]): Received<Code> {
    if (code === 0) return 'ok';
    const name = this.codeName(code) as Code;
    if (!codes.includes(name)) throw this.error(code);
    return name.toLowerCase() as Lowercase<Code>;
  }
}

/** Returns a function of the kit, which in a page has only those for clients. @internal */
export const kitFunction = <Name extends keyof GameExports>(
  { exports }: GameCore,
  name: Name,
): GameExports[Name] => {
  if (name in exports) return exports[name];
  throw new MisuseError(
    'INVALID_ARGUMENT',
    'this kit has only the parts for clients: to serve a game in a page, pass the address of ' +
      'causeway-game-server.wasm to loadGame as `wasm`',
  );
};

/** An object that lives in the game kit. */
export abstract class GameObject extends WasmObject<GameCore> {}

/** On Node, size does not matter, and servers run there. */
const isNode = nodeModule('node:fs') !== undefined;

/**
 * Loads the game kit: in a page, the parts that clients need, and on Node all. Without a source, every call returns the instance that was loaded first.
 * @throws {@link ConnectError} when it cannot be fetched or is no module of this package.
 */
export const loadGame: (options?: LoadOptions) => Promise<GameCore> = loader(
  isNode ? 'causeway-game-server.wasm' : 'causeway-game.wasm',
  () =>
    isNode
      ? new URL('../causeway-game-server.wasm', import.meta.url)
      : new URL('../causeway-game.wasm', import.meta.url),
  (module) => GameCore.instantiate(module),
).load;
