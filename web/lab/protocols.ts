/** The names that the choice of a column shows; a protocol that is not listed is shown under its own name. */
const NAMES: Readonly<Record<string, string>> = {
  plain: 'Causeway',
  copies: 'Causeway, copies',
  coded: 'Causeway, coded repair',
  binary: 'Causeway, good/bad',
  rudp: 'Request-based',
  notify: 'Packet notification',
  tcp: 'TCP-like stream',
  nagle: 'TCP-like, Nagle',
  unacked: 'All unacked',
  thrice: 'Three times each',
  tenth: 'Again after 0.1 s',
  websocket: 'Causeway over TCP',
};

/** Returns the protocols of a real network: a WebSocket is TCP, and there is none on the simulated one. */
export const onMyNetwork = (known: readonly string[]): readonly string[] => [...known, 'websocket'];

/** The column that stands for a protocol on the other kind of network: TCP for the stream that is like it. */
export const realOf = (protocol: string): string => (protocol === 'tcp' ? 'websocket' : protocol);
export const simulatedOf = (protocol: string): string =>
  protocol === 'websocket' ? 'tcp' : protocol;

export const nameOf = (protocol: string): string => NAMES[protocol] ?? protocol;

/** Returns the first protocol that no column has. */
export const another = (known: readonly string[], columns: readonly string[]): string =>
  known.find((protocol) => !columns.includes(protocol)) ?? known[0]!;
