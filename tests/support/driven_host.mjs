// A host of a connection whose other end a test drives by hand.
import { Connection, ConnectionHost } from './causeway.mjs';
import { own } from './fixture.mjs';

const now = () => performance.now() / 1000;

/**
 * Starts a host, whose transport ends with the test, or by `end()`. `far` is the other end, and `flush()` has it send
 * what it has to send.
 */
export function startDrivenHost(t, core, types, config) {
  const far = new Connection(core, types, config);
  let end;
  const transport = {
    kind: 'websocket',
    state: 'open',
    maxDatagramSize: 1200,
    ondatagram: null,
    closed: new Promise((resolve) => {
      end = () => resolve({ code: 1000, reason: '' });
    }),
    send: (datagram) => far.receive(datagram, now()),
    stats: () => ({}),
    close: () => end(),
  };
  const host = new ConnectionHost(core, types, transport, config);
  own(t, end);
  const flush = () => {
    far.update(now());
    for (let out = far.transmit(now()); out; out = far.transmit(now())) transport.ondatagram(out);
  };
  return { host, far, transport, end, flush };
}
