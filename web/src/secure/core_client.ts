import type { Core } from '../core.js';
import { clientStates } from '../generated.js';

/** Where a client is, by the names of `enum cw_client_state`. */
export type ClientState = (typeof clientStates)[keyof typeof clientStates];

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

/** One sentence that says what the state means. */
export const explain = (core: Core, client: number): string =>
  core.memory.text(core.exports.client_state_string(core.exports.client_state(client)));
