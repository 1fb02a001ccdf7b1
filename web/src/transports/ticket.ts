// Opens WebRTC without signalling: the page writes the relay's answer itself. The relay's last answer brought a ticket
// for that, with its key (`relay/rtc/ticket.h`).
import type { SessionOptions } from './session.js';

/** An answer that opened a channel. */
export interface KnownAnswer {
  readonly sdp: string;
  /** The milliseconds that it took to get it, which are at least two round trips. */
  readonly took: number;
}

const bytesOf = (binary: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(binary, (char) => char.charCodeAt(0));

const base64 = (binary: string): string => btoa(binary).replaceAll('=', '');

/** The longest ufrag that browsers take. */
const UFRAG_MAX = 256;

/** Returns the answer to an offer, or undefined when one cannot be made. */
export async function answerOf(
  sdp: string,
  offer: string,
  { session, server = '' }: SessionOptions,
): Promise<string | undefined> {
  const [, ticket, key] = /ticket:(\S+) (\S+)/.exec(sdp) ?? [];
  const [, hex] = /sha-256 (\S+)/.exec(offer) ?? [];
  // A page that is not secure (http:) has no `subtle`.
  const { subtle } = crypto;
  if (!ticket || !key || !hex || !session || !subtle) return undefined;
  const head =
    atob(ticket) +
    String.fromCharCode(
      ...crypto.getRandomValues(new Uint8Array(16)),
      ...hex.split(':').map((digits) => parseInt(digits, 16)),
    );
  const hmac = { name: 'HMAC', hash: 'SHA-512' };
  const secret = await subtle.importKey('raw', bytesOf(atob(key)), hmac, false, ['sign']);
  const hash = new Uint8Array(await subtle.sign('HMAC', secret, bytesOf(head)));
  const hidden = bytesOf(session).map((byte, i) => byte ^ hash[i]!);
  const ufrag = base64(head + String.fromCharCode(...hidden) + server);
  const password = btoa(String.fromCharCode(...hash.subarray(22, 46)));
  if (ufrag.length > UFRAG_MAX) return undefined;
  return sdp.replace(/ufrag:.*/, `ufrag:${ufrag}`).replace(/pwd:.*/, `pwd:${password}`);
}
