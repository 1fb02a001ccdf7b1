import assert from 'node:assert/strict';
import test from 'node:test';
import { freePort } from '../support/free_port.mjs';
import { sleep, until } from '../support/patience.mjs';
import { startRelay, statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';

test('a game server that is down is reported, and used again when it is back', async (t) => {
  const first = await startUdpServer(t, { port: await freePort('udp') });
  const relay = await startRelay(t, { upstream: first.upstream });
  const client = await connect(t, relay);
  await client.echo('one');

  await first.close();
  // The client sends many times, so that the error comes back in a send call as well as in the event loop.
  for (let i = 0; i < 20; i++) {
    for (let n = 0; n < 5; n++) client.send(Buffer.from(`lost ${i} ${n}`));
    await sleep(10);
  }
  const down = await statsUntil(
    relay,
    (stats) => stats.upstream_refused > 0 && stats.client_datagrams === 101,
  );
  assert.equal(down.sessions_open, 1);
  await relay.logged(
    new RegExp(`warn  (worker \\d: )?game server ${first.upstream} is down: Connection refused`),
  );
  assert.equal(relay.log().match(/is down/g).length, 1, 'one line for many errors');

  const second = await startUdpServer(t, { port: first.port });
  client.send(Buffer.from('two'));
  // The closed port's answer to an earlier datagram may make one more send fail.
  await until(
    'the server to answer again',
    () => {
      if (client.messages.length >= 2) return true;
      client.send(Buffer.from('two'));
      return false;
    },
    50,
  );
  assert.equal(client.messages[1].data.toString(), 'two');
  assert.ok(second.received.length > 0);
  await relay.logged(/info  (worker \d: )?game server \S+ answers again/);
  assert.equal(client.socket.readyState, 1);
});

test('sessions can begin while the game server is down', async (t) => {
  const server = await startUdpServer(t, { port: await freePort('udp') });
  await server.close();
  const relay = await startRelay(t, { upstream: server.upstream });
  const client = await connect(t, relay);
  client.send(Buffer.from('anyone?'));
  await statsUntil(relay, ({ upstream_refused }) => upstream_refused > 0);
  const revived = await startUdpServer(t, { port: server.port });
  await client.echo('now?');
  assert.equal(revived.received.at(-1).data.toString(), 'now?');
});
