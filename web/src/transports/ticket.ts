// Opens WebRTC without signalling: the page writes the relay's answer itself, the last one with another ufrag. The ufrag
// has the ticket that came with the last answer, and what the offer says (`relay/rtc/ticket.h`).
import type { SessionOptions } from './session.js';

/** Returns the bytes of hexadecimal digits, which may have colons between them. */
export const bytesOf = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/\w\w/g) ?? [], (digits) => parseInt(digits, 16));

/**
 * Returns the answer to an offer, made of the last answer, which must have a ticket. Browsers do not take it when its
 * ufrag has more than 256 characters.
 */
export function answerTo(offer: string, last: string, wishes: SessionOptions): string {
  const { session, server = '' } = wishes;
  const [, ticket, mask] = /ticket:(\S+) (\S+)/.exec(last)!;
  const [, fingerprint] = /sha-256 (\S+)/.exec(offer)!;
  const hidden = Array.from(
    atob(session!.replaceAll('-', '+').replaceAll('_', '/')),
    (char, i) => char.charCodeAt(0) ^ atob(mask!).charCodeAt(i),
  );
  const [, init = ''] = /init:(\S+)|$/.exec(offer)!;
  const ufrag = btoa(
    atob(ticket!) +
      String.fromCharCode(...bytesOf(fingerprint!), ...hidden) +
      atob(init).slice(4, 20).padEnd(16, '\0') +
      server,
  );
  return last.replace(/ufrag:.*/, `ufrag:${ufrag.replaceAll('=', '')}`);
}
