// The classes without I/O have the names of C; a class that adds a transport and a tick is called a host.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Client,
  GameClient,
  Connection,
  ConnectionHost,
  Host,
  bool,
  generateConnectToken,
  generateKey,
  loadCore,
  message,
  schema,
} from '../support/causeway.mjs';

test('a host adds transport and tick to what has the same name in C', () => {
  assert.ok(ConnectionHost.prototype instanceof Host);
  assert.ok(GameClient.prototype instanceof Host);
  for (const end of [Connection, Client])
    for (const verb of ['receive', 'update', 'transmit', 'next'])
      assert.equal(typeof end.prototype[verb], 'function', `${end.name}.${verb}`);
});

test('a client needs no transport and no clock', async () => {
  const core = await loadCore();
  const types = schema(message('yes', { really: bool() }));
  const token = await generateConnectToken({
    protocolId: 1n,
    privateKey: generateKey(),
    clientId: 1,
    servers: ['127.0.0.1:40000'],
    schema: types,
    timeoutSeconds: 5,
  });
  const client = new Client(core, types);
  assert.equal(client.state, 'DISCONNECTED');
  client.connect(token, 0);
  assert.equal(client.state, 'SENDING_REQUEST');
  client.update(0);
  const request = client.transmit(0);
  assert.ok(request.length <= client.maxDatagramSize);
  assert.equal(client.transmit(0), undefined);
  assert.deepEqual(client.clientStats(), {
    datagramsSent: 1,
    datagramsReceived: 0,
    datagramsDropped: 0,
    bytesSent: request.length,
    bytesReceived: 0,
    dropped: {},
  });
  client.update(6);
  assert.equal(client.state, 'REQUEST_TIMED_OUT');
  assert.match(client.explain(), /\w+ \w+/);
  client.destroy();
});
