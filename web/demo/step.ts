import type { Command, Player } from './rules.js';

/** The functions of step.wasm. */
interface StepExports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  numbers(): number;
  step(): void;
}

/** Loads the server's own step of a player, compiled for the page. */
export async function loadStep(): Promise<(player: Player, command: Command) => Player> {
  const { instance } = await WebAssembly.instantiateStreaming(fetch('step.wasm'));
  const exports = instance.exports as unknown as StepExports;
  exports._initialize();
  const numbers = new Int32Array(exports.memory.buffer, exports.numbers(), 13);
  return (player, { move, aim: aimed, fire }) => {
    const { at, speed, aim, stun, reload } = player;
    numbers.set([at.x, at.y, speed.x, speed.y, aim.x, aim.y, stun, reload]);
    numbers.set([move.x, move.y, aimed.x, aimed.y, Number(fire)], 8);
    exports.step();
    return {
      ...player,
      at: { x: numbers[0]!, y: numbers[1]! },
      speed: { x: numbers[2]!, y: numbers[3]! },
      aim: { x: numbers[4]!, y: numbers[5]! },
      stun: numbers[6]!,
      reload: numbers[7]!,
    };
  };
}
