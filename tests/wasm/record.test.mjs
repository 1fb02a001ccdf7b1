// A recording of a connection of the package: the native causeway-record comes to the same statistics.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FlightRecorder, connect, recordingCore } from '../../web/dist/record/index.js';
import { Connection, loadCore, message, schema, string } from '../support/causeway.mjs';
import { join as joinPlace } from '../support/join.mjs';
import { startBot, startServer } from '../support/node_server.mjs';
import { patiently } from '../support/patience.mjs';
import { startSecureServer } from '../support/secure.mjs';

const types = schema(message('say', { text: string(100) }));
const printed = (bytes) => {
  const folder = mkdtempSync(join(tmpdir(), 'record-'));
  try {
    writeFileSync(join(folder, 'recording'), bytes);
    return execFileSync(process.env.CAUSEWAY_RECORD, [join(folder, 'recording')], {
      encoding: 'utf8',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Lets two ends talk for some ticks, while every seventh datagram gets lost. */
const talk = (ends, ticks) => {
  for (let i = 0; i < ticks; i++)
    for (const [from, to] of [ends, ends.toReversed()]) {
      from.send(0, 'say', { text: `tick ${i}` }, i / 60);
      from.update(i / 60);
      for (let datagram; (datagram = from.transmit(i / 60));)
        if (i % 7 > 0) to.receive(datagram, i / 60);
      while (to.next());
    }
};

test('a recording of the package tells what happened, also to the end of its connection', async () => {
  const core = await loadCore({ wasm: recordingCore() });
  const ends = [new Connection(core, types), new Connection(core, types)];
  const recorder = new FlightRecorder(ends[0]);
  talk(ends, 60);
  recorder.note('a remark');
  const { packetsSent, packetsAcked, packetsReceived, packetsLost } = ends[0].stats();
  assert.ok(packetsLost > 0);
  ends[0].destroy();
  const lines = printed(recorder.bytes());
  assert.match(lines, /^ +\d+\.\d{6} note a remark$/m);
  assert.match(lines, /^ +0\.\d{6} lost 0$/m);
  assert.match(
    lines,
    new RegExp(
      `^packets: ${packetsSent} sent, ${packetsAcked} acked, ${packetsLost} lost; ${packetsReceived} received,`,
      'm',
    ),
  );
  recorder.stop();
  ends[1].destroy();
});

test('a core that cannot record is told apart', async () => {
  const core = await loadCore({ wasm: new URL('../../web/dist/causeway.wasm', import.meta.url) });
  const end = new Connection(core, types);
  assert.throws(() => new FlightRecorder(end), { code: 'CONFIG', message: /recordingCore/ });
  assert.throws(() => new FlightRecorder({}), { code: 'CONFIG' });
  end.destroy();
});

test('a client is recorded, and an end that nobody meant has the recording', async (t) => {
  const place = await startSecureServer(t);
  let carrier;
  const through = (transport) => (carrier = transport);
  const client = await joinPlace(place, { through }, connect);
  client.disconnect();
  assert.match(printed(client.record()), / note disconnect: this side has disconnected$/m);
  assert.equal((await client.closed).record, undefined);
  const other = await joinPlace(place, { through }, connect);
  carrier.close();
  const { reason, record } = await other.closed;
  assert.equal(reason, 'transport');
  assert.match(printed(record), / note disconnect: /m);
});

test('a client is recorded whenever a trouble begins', async (t) => {
  const place = await startSecureServer(t);
  const client = await joinPlace(place, {}, connect);
  const looks = [false, true, true, false, true];
  const records = [];
  const looked = new Promise((resolve) => {
    client.recordWhen(
      ({ packetsSent }) => {
        assert.ok(packetsSent >= 0);
        if (looks.length === 0) resolve();
        return looks.shift() ?? false;
      },
      (record) => records.push(printed(record)),
    );
  });
  await patiently(looked, 'the looks at the statistics');
  assert.equal(records.length, 2);
  for (const record of records) assert.match(record, /^packets: /m);
  client.disconnect();
});

test('a Node server records a player, to the end', async (t) => {
  const { client, bot } = await startBot(t, await startServer(t));
  const recorder = new FlightRecorder(client);
  await bot.track(0, 'say', { text: 'hello' });
  bot.disconnect();
  await client.closed;
  const lines = printed(recorder.bytes());
  for (const what of ['received \\d', 'sent \\d', 'note disconnect: client'])
    assert.match(lines, new RegExp(` ${what}`, 'm'));
  recorder.stop();
});
