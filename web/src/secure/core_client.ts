import type { Core } from '../core.js';
import { clientFarewell, clientStates } from '../generated.js';

/** Where a client is, by the names of `enum cw_client_state`. */
export type ClientState = (typeof clientStates)[keyof typeof clientStates];

/** What a server told a client when it ended the connection. */
export interface Farewell {
  /** The game server's own number, 0 without one. */
  readonly code: number;
  /** Its text for people, empty without one. */
  readonly text: string;
}

/** Hands a token to a client in the module, and leaves none behind. */
export function beginToConnect(core: Core, client: number, token: Uint8Array, now: number): void {
  const copy = core.allocate(token.length + 1);
  try {
    core.memory.bytes.set(token, copy);
    core.check(core.exports.client_connect(client, copy, token.length, now));
  } finally {
    core.exports.release_secret(copy, token.length);
  }
}

export const stateOf = (core: Core, client: number): ClientState => {
  const state = String(core.exports.client_state(client));
  return clientStates[state as keyof typeof clientStates];
};

export const farewellOf = (core: Core, client: number): Farewell => {
  const { exports, memory, scratch } = core;
  exports.client_farewell(client);
  return {
    code: memory.u32(scratch + clientFarewell.code),
    text: memory.text(memory.u32(scratch + clientFarewell.text)),
  };
};

/** One sentence that says what the state means, with the text of the server that ended it. */
export const explain = (core: Core, client: number): string => {
  const { exports, memory } = core;
  const state = memory.text(exports.client_state_string(exports.client_state(client)));
  return [state, farewellOf(core, client).text].filter(Boolean).join(': ');
};
