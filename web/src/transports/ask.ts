import { relayError, relaySays } from '../errors.js';

/**
 * Posts to a relay, for a page that wants a link of another kind than WebSocket.
 * @param status the status of the answer with which the relay agrees
 * @throws {@link ConnectError} of the stage `signalling`, also when the signal is aborted
 */
export async function askRelay(
  address: URL,
  status: number,
  signal: AbortSignal,
  body: string | null = null,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, {
      // With a POST the browser always tells the page's origin.
      method: 'POST',
      // This type needs no CORS preflight, which would cost two round trips.
      headers: { 'content-type': 'text/plain' },
      body,
      signal,
    });
  } catch (cause) {
    throw relayError(
      address,
      'signalling',
      `cannot be reached: ${String(cause)}; does it run, and allow this page's origin (--origin)?`,
      { cause },
    );
  }
  if (response.status === status) return response;
  const { code, means = 'refused it' } = relaySays(response.status) ?? {};
  throw relayError(
    address,
    'signalling',
    `${means}: ${response.status} ${(await response.text()).slice(0, 200)}`.trimEnd(),
    // Unsigned: a time before now would let the page ask again and again, without a pause.
    {
      retryAfterSeconds:
        (response.headers.get('retry-after') as unknown as number) >>> 0 || undefined,
    },
    code,
  );
}
