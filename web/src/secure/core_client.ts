import type { Core } from '../core.js';
import type { CoreErrorCode } from '../errors.js';
import { clientStates, errorCodes, farewellAt } from '../generated.js';

/** A client is in one of these states, which have the names of `enum cw_client_state`. */
export type ClientState = (typeof clientStates)[keyof typeof clientStates];

/** The reason that a server gave a client when it ended the connection. */
export interface Farewell {
  /** The game server's own number, 0 without one. */
  readonly code: number;
  /** Its text for people, empty without one. */
  readonly text: string;
}

/** Hands a token to a client in the module, and leaves none behind. */
export function beginToConnect(
  core: Core,
  token: Uint8Array,
  connect: (token: number, size: number) => number,
): void {
  core.withSecret(token.length + 1, (copy) => {
    core.memory.bytes.set(token, copy);
    core.check(connect(copy, token.length));
  });
}

// The following functions take the address of a `cw_netcode_client`.

export const stateNumber = (core: Core, client: number): number =>
  core.exports.cw_netcode_client_state(client);

export const stateOf = (core: Core, client: number): ClientState => {
  const state = String(stateNumber(core, client));
  return clientStates[state as keyof typeof clientStates];
};

export const farewellOf = (core: Core, client: number): Farewell => {
  const { exports, memory } = core;
  const farewell = exports.cw_netcode_client_farewell(client);
  return {
    code: memory.u32(farewell + farewellAt.code),
    text: memory.text(farewell + farewellAt.text),
  };
};

/** Returns the numbers of dropped datagrams by error, without those errors that have not happened. */
export const droppedBy = (
  count: (error: number) => bigint,
): { readonly [Code in CoreErrorCode]?: number } => {
  const counts = errorCodes.map((code, i) => [code, Number(count(i))]);
  return Object.fromEntries(counts.filter(([, number]) => number !== 0));
};

/** One sentence that says what the state means, with the text of the server that ended it. */
export const explain = (core: Core, client: number): string => {
  const { exports, memory } = core;
  const state = memory.text(exports.cw_client_state_string(stateNumber(core, client)));
  return [state, farewellOf(core, client).text].filter(Boolean).join(': ');
};
