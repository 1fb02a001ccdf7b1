// The relay's counters, as Prometheus reads them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { startWatched } from './admin.mjs';
import { pattern } from '../support/pattern.mjs';
import { statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { until } from '../support/patience.mjs';

/** Reads the text format 0.0.4 strictly: types by name, and values by name and labels. */
function parse(text) {
  assert.ok(text.endsWith('\n'));
  const types = new Map();
  const helps = new Set();
  const values = new Map();
  for (const line of text.trimEnd().split('\n')) {
    const [, kind, named, rest] = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      assert.ok(!helps.has(named), line);
      helps.add(named);
      continue;
    }
    if (kind === 'TYPE') {
      assert.match(rest, /^(counter|gauge|histogram)$/);
      assert.ok(helps.has(named) && !types.has(named), line);
      assert.equal(rest === 'counter', named.endsWith('_total'), line);
      types.set(named, rest);
      continue;
    }
    const sample = /^([a-z_]+)(\{[a-z]+="[^"\\\n]*"\})? (\d+(\.\d+)?(e[-+]\d+)?)$/.exec(line);
    assert.ok(sample, line);
    const [, name, labels = '', value] = sample;
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    assert.ok(types.has(family), line);
    // All samples of a family stand together, behind its type.
    assert.equal([...types.keys()].at(-1), family, line);
    assert.ok(!values.has(name + labels), line);
    values.set(name + labels, Number(value));
  }
  for (const [family, type] of types) {
    if (type !== 'histogram') continue;
    const buckets = [...values].filter(([name]) => name.startsWith(`${family}_bucket`));
    const counts = buckets.map(([, count]) => count);
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
    );
    assert.match(buckets.at(-1)[0], /le="\+Inf"/);
    assert.equal(counts.at(-1), values.get(`${family}_count`));
  }
  return values;
}

test('every counter of the log is in /metrics with the same value', async (t) => {
  const { relay } = await startWatched(t);
  const players = [await connect(t, relay), await connect(t, relay)];
  for (const player of players) {
    for (let i = 0; i < 10; i++) player.send(pattern(100, i));
    await player.received(10);
  }
  const stats = await statsUntil(relay, (now) => now.delivered_datagrams === 20);
  const { status, type, text } = await relay.ask('/metrics');
  assert.equal(status, 200);
  assert.equal(type, 'text/plain; version=0.0.4; charset=utf-8');
  const values = parse(text);
  const { sessions_open, ...counters } = stats;
  for (const [name, value] of Object.entries(counters))
    assert.equal(values.get(`causeway_relay_${name}_total`), value, name);
  assert.equal(values.get('causeway_relay_sessions_open'), sessions_open);
  assert.match(text, /\ncauseway_relay_build_info{version="\d+\.\d+\.\d+"} 1\n/);
  assert.equal(values.get('causeway_relay_client_datagrams_total'), 20);
  assert.equal(values.get('causeway_relay_client_bytes_total'), 2000);
  assert.equal(values.get('causeway_relay_links{transport="websocket"}'), 2);
  assert.equal(values.get('causeway_relay_sessions_unanswered'), 0);
  assert.equal(values.get('causeway_relay_setup_seconds_count'), 2);
  assert.ok(values.get('causeway_relay_setup_seconds_sum') > 0);
  assert.ok(values.get('process_cpu_seconds_total') > 0);
  assert.ok(values.get('process_resident_memory_bytes') > 1e6);
  assert.ok(values.get('process_open_fds') > 6);
  const started = values.get('process_start_time_seconds');
  assert.ok(Math.abs(started - performance.timeOrigin / 1000) < 600, `started at ${started}`);
  assert.ok(values.get('process_max_fds') > values.get('process_open_fds'));

  await t.test('promtool agrees', (inner) => {
    const {
      error,
      status: code,
      stderr,
    } = spawnSync('promtool', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    });
    if (error?.code === 'ENOENT') inner.skip('promtool is not installed');
    else assert.equal(code, 0, stderr);
  });
});

test('what waited for a slow browser is in the histogram of ages', async (t) => {
  const { server, relay } = await startWatched(t, {
    answer: () => null,
    args: ['--queue-age', '60', '--queue-bytes', '100000000'],
  });
  const player = await connect(t, relay);
  player.send(pattern(10));
  await until('the client', () => server.addresses.size > 0);
  const [address] = server.addresses.values();
  player.socket.pause();
  // Waits until the system takes no more bytes.
  const queued = async () => {
    const { upstream_datagrams, delivered_datagrams } = await relay.stats();
    return upstream_datagrams - delivered_datagrams;
  };
  while ((await queued()) === 0)
    for (let i = 0; i < 50; i++) server.send(pattern(1200, i), address);
  const waiting = await queued();
  player.socket.resume();
  await statsUntil(relay, (now) => now.delivered_datagrams === now.upstream_datagrams);
  const values = parse((await relay.ask('/metrics')).text);
  assert.ok(values.get('causeway_relay_queue_age_seconds_count') >= waiting);
});

test('the round trips of a session are in a histogram', async (t) => {
  const { relay } = await startWatched(t, { args: ['--answer-timeout', '1'] });
  await (await connect(t, relay)).echo(pattern(10));
  const values = async () => parse((await relay.ask('/metrics')).text);
  await until('a sample', async () => (await values()).get('causeway_relay_rtt_seconds_count') > 0);
});

test('a game server that is down is seen', async (t) => {
  const { server, relay } = await startWatched(t, { suffix: ',client-address=none' });
  const up = async () => {
    const values = parse((await relay.ask('/metrics')).text);
    return values.get(`causeway_relay_upstream_up{server="${server.upstream}"}`);
  };
  assert.equal(await up(), 1);
  await server.close();
  const player = await connect(t, relay);
  player.send(pattern(10));
  await relay.logged(/is down/);
  assert.equal(await up(), 0);
});

test('each of several game servers that are down is named, and seen', async (t) => {
  const servers = [];
  for (let i = 0; i < 3; i++) servers.push(await startUdpServer(t));
  const [one, two, { port }] = servers;
  const range = `127.0.0.1:${port}-${port + 1}`;
  const upstreams = [one.upstream, two.upstream, range, one.upstream];
  const { server, relay } = await startWatched(t, {
    args: upstreams.flatMap((upstream) => ['--upstream', upstream]),
  });
  for (const each of servers) await each.close();
  for (const { port: at, upstream } of servers) {
    const player = await connect(t, relay, {
      protocols: ['causeway.v1', `causeway.server.127.0.0.1_${at}`],
    });
    player.send(pattern(10));
    await relay.logged(new RegExp(`game server ${upstream} is down`));
  }
  const values = parse((await relay.ask('/metrics')).text);
  const up = ({ upstream }) => values.get(`causeway_relay_upstream_up{server="${upstream}"}`);
  assert.deepEqual([server, one, two, servers[2]].map(up), [1, 0, 0, undefined]);
  assert.equal(values.get(`causeway_relay_upstreams_down{servers="${range}"}`), 1);
});
