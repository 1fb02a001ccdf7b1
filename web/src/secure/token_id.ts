/** Where the id is in a token (netcode 1.02): it is the first bytes of the MAC of the encrypted part. */
const ID = 1069;
const ID_SIZE = 8;

/**
 * Returns the id of a connect token: 16 hexadecimal digits, by which the logs of relay and game server name it. A page
 * that reports it with an error, and a backend that logs it with the player, make the player easy to find in them.
 * `cw_token_id` in C. It lets nobody connect.
 */
export const connectTokenId = (token: Uint8Array | ArrayBuffer): string =>
  [...new Uint8Array(token).subarray(ID, ID + ID_SIZE)]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
