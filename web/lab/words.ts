import type { Wait } from './track.js';

/** The seconds that a wait must last before its length is mentioned. */
const BRIEF = 0.1;

export const duration = (milliseconds: number): string => {
  if (Number.isNaN(milliseconds)) return '–';
  return milliseconds < 1000
    ? `${Math.round(milliseconds)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;
};

/** Says in words what an end waits for. */
export function waitingText({ kind, number, since }: Wait, now: number): string {
  const long = now - since > BRIEF ? ` (${Math.round((now - since) * 100) * 10} ms)` : '';
  switch (kind) {
    case 'nothing':
      return 'waits for nothing';
    case 'packet':
      return `waits for packet ${number}${long}`;
    case 'message':
      return `waits for message ${number}${long}`;
    case 'answer':
      return `asks for package ${number}${long}`;
    case 'byte':
      return `waits for byte ${number}${long}`;
    case 'ack':
      return `sends nothing until packet ${number} is settled`;
    case 'window':
      return `has its window full (${number} B)`;
    case 'timer':
      return `sends again in ${number} ms`;
    case 'rate':
      return `may send ${number} packets a second`;
  }
}
