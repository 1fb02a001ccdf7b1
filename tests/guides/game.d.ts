// Objects of a game that the guides use without saying where they come from.
declare const player: { id: bigint };
declare const bytes: ArrayBuffer;

declare function held(key: string): number;
declare const context: CanvasRenderingContext2D;
