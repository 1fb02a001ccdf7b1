// Objects of a game that the guides use without saying where they come from.
declare const player: { id: bigint };
declare const bytes: ArrayBuffer;

type Walker = { x: number; y: number; hits: number };
declare function keys(): { right: number; up: number; hit: boolean };
declare function step(player: Walker, press: { right: number; up: number }): Walker;
declare function draw(own: Walker, others: readonly unknown[], fraction: number): void;
