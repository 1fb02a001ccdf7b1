// A path of datagrams that loses some of them: between a WebRTC client and the relay, or between relay and server.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { own } from './fixture.mjs';

/**
 * Starts a path to a port of loopback. It loses the datagrams for which `loses(datagram, way, number)` returns true; the
 * way is 'up', which is to that port, or 'down', and the first datagram of each way has the number 1.
 */
export async function startUdpPath(t, port, loses = () => false) {
  const counts = { up: 0, upLost: 0, down: 0, downLost: 0 };
  const front = createSocket('udp4');
  /** The sockets by which the other end sees each client. */
  const flows = new Map();
  const isLost = (datagram, way) => {
    const lost = loses(datagram, way, ++counts[way]);
    if (lost) counts[`${way}Lost`]++;
    return lost;
  };
  const openFlow = (from) => {
    const flow = createSocket('udp4');
    flow.on('message', (datagram) => {
      if (!isLost(datagram, 'down')) front.send(datagram, from.port, from.address);
    });
    flow.on('error', () => {}); // an ICMP message says that nobody is there
    flows.set(from.port, flow);
    return flow;
  };
  front.on('message', (datagram, from) => {
    if (isLost(datagram, 'up')) return;
    (flows.get(from.port) ?? openFlow(from)).send(datagram, port, '127.0.0.1');
  });
  front.bind(0, '127.0.0.1');
  await once(front, 'listening');
  const ownPort = front.address().port;
  const closeFlows = () => {
    flows.forEach((flow) => flow.close());
    flows.clear();
  };
  own(t, () => {
    front.close();
    closeFlows();
  });
  return {
    port: ownPort,
    upstream: `127.0.0.1:${ownPort}`,
    counts,
    /** Puts the path between a WebRTC client and the relay, by the address in the relay's answer. */
    edit: (sdp) => sdp.replace(`127.0.0.1 ${port} typ`, `127.0.0.1 ${ownPort} typ`),
    /** Gives the clients new addresses, as the other end sees them. */
    roam: closeFlows,
  };
}
