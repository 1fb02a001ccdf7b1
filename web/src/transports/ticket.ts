// Opens WebRTC without signalling: the page writes the relay's answer itself, the last one with another ufrag. That has
// the ticket which came with it, and what the offer says (`relay/rtc/ticket.h`).
import type { SessionOptions } from './session.js';

/** The longest ufrag that browsers take. */
const UFRAG_MAX = 256;

/** Returns the answer to an offer, made of the last answer, or undefined when that is not possible. */
export function answerTo(
  offer: string,
  last: string,
  { session, server = '' }: SessionOptions,
): string | undefined {
  const [, ticket, mask] = /ticket:(\S+) (\S+)/.exec(last) ?? [];
  const [, fingerprint] = /sha-256 (\S+)/.exec(offer) ?? [];
  if (!ticket || !mask || !fingerprint || !session) return undefined;
  const bytes = fingerprint.split(':').map((digits) => parseInt(digits, 16));
  const hidden = Array.from(
    atob(session.replaceAll('-', '+').replaceAll('_', '/')),
    (char, i) => char.charCodeAt(0) ^ atob(mask).charCodeAt(i),
  );
  const ufrag = btoa(atob(ticket) + String.fromCharCode(...bytes, ...hidden) + server);
  return ufrag.length > UFRAG_MAX
    ? undefined
    : last.replace(/ufrag:.*/, `ufrag:${ufrag.replaceAll('=', '')}`);
}
