// What a game has of its own and the guides use without saying where it comes from.
declare const player: { id: bigint };
declare const bytes: ArrayBuffer;
