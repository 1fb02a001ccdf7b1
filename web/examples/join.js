// Pages and bots join a game with tokens from the backend, and with another attempt when one has failed.

/** Returns a function that gets a connect token from the backend. Each connection takes a new one. */
export const tokensFrom = (backend) => async () => {
  const reply = await fetch(new URL('/token', backend), {
    method: 'POST',
    cache: 'no-store',
  }).catch((error) => {
    throw Object.assign(new Error(`no backend at ${backend}`, { cause: error }), {
      retryable: true,
    });
  });
  if (!reply.ok) throw new Error(`the backend gives no token: ${reply.status}`);
  return reply.arrayBuffer();
};

/** Plays, and tries again after failures that may pass, as when the server is not there yet. */
export async function retry(play, tell) {
  for (;;)
    try {
      return await play();
    } catch (error) {
      tell(error.message);
      if (!error.retryable) return;
      await new Promise((wake) => setTimeout(wake, 1000));
    }
}
