// A proxy as pages have it that may reach nothing else: WebSockets below /.proxy/relay/ go to the relay, and everything
// else is refused. The connections can be stalled, as TCP is after a loss.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { own } from './fixture.mjs';

const PREFIX = '/.proxy/relay/';

/** The connections in both directions of one WebSocket. */
class Connection {
  bytes = 0;
  #ends;

  constructor(client, relay) {
    this.#ends = [client, relay];
    for (const [from, to] of [
      [client, relay],
      [relay, client],
    ]) {
      from.on('data', (data) => {
        this.bytes += data.length;
        to.write(data);
      });
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
  }

  stall() {
    this.#ends.forEach((end) => end.pause());
  }

  goOn() {
    this.#ends.forEach((end) => end.resume());
  }
}

export async function startStrictProxy(t, port) {
  const connections = [];
  const refused = [];
  const server = createServer(({ method, url }, response) => {
    refused.push(`${method} ${url}`);
    response.writeHead(403).end();
  });
  server.on('upgrade', ({ url, rawHeaders, headers }, client) => {
    if (!url.startsWith(PREFIX) || headers.upgrade.toLowerCase() !== 'websocket')
      return client.destroy();
    const relay = connect({ port, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    const lines = [`GET /${url.slice(PREFIX.length)} HTTP/1.1`];
    for (let i = 0; i < rawHeaders.length; i += 2)
      lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
    relay.write(`${lines.join('\r\n')}\r\n\r\n`);
    connections.push(new Connection(client, relay));
  });
  server.listen(0, '127.0.0.1');
  own(t, () => server.close());
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}${PREFIX}`, connections, refused };
}
