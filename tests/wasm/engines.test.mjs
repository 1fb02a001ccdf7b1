// The oldest engines that web/README.md names: Safari 15.4, Chrome 94 and Firefox 93 read the package and can run it.
import '../support/old_node.mjs'; // must come before the package
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  Endpoint,
  ConnectError,
  WebRtcTransport,
  dist,
  loadCore,
  require,
} from '../support/causeway.mjs';
import { startSecureServer } from '../support/secure.mjs';
import { join } from '../support/join.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { until } from '../support/patience.mjs';

const { parse } = require('acorn');

const scripts = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith('.js'));

/** Yields all nodes of a syntax tree. */
function* nodes(value) {
  if (Array.isArray(value)) for (const each of value) yield* nodes(each);
  else if (typeof value?.type === 'string') {
    yield value;
    yield* nodes(Object.values(value));
  }
}

/** Returns whether Safari 15.4 cannot read a node, though its syntax is of the year 2022 or before. */
const isUnreadable = ({ type, regex }) =>
  type === 'StaticBlock' || (regex && /\(\?<[=!]/.test(regex.pattern));

test('the syntax is older than static blocks and lookbehind', () => {
  assert.ok(scripts.includes('index.js') && scripts.includes('game/index.js'));
  for (const name of scripts) {
    const source = readFileSync(new URL(name, dist), 'utf8');
    const tree = parse(source, { ecmaVersion: 2022, sourceType: 'module' });
    for (const node of nodes(tree))
      assert.ok(!isUnreadable(node), `${name}: ${source.slice(node.start, node.start + 60)}`);
  }
});

test('the modules use no instructions that Safari 15.4 does not have', () => {
  const features =
    'mutable-globals sign-ext bulk-memory nontrapping-float-to-int multivalue reference-types';
  for (const name of readdirSync(dist).filter((file) => file.endsWith('.wasm')))
    execFileSync('wasm-opt', [
      fileURLToPath(new URL(name, dist)),
      '--mvp-features',
      ...features.split(' ').map((feature) => `--enable-${feature}`),
      '-o',
      '/dev/null',
    ]);
});

test('the engine is an old one', () => {
  assert.equal(AbortSignal.any ?? Promise.withResolvers ?? Symbol.dispose, undefined);
  assert.ok(!('reason' in new AbortController().signal));
});

test('without Symbol.dispose no method is called "undefined"', async () => {
  const endpoint = new Endpoint(await loadCore());
  assert.ok(!('undefined' in endpoint));
  endpoint.destroy();
});

for (const transport of ['websocket', 'webrtc']) {
  const options = { transports: [transport], RTCPeerConnection };

  test(`${transport}: messages travel both ways`, async (t) => {
    const place = await startSecureServer(t);
    const client = await join(place, options);
    client.send(0, 'say', { text: 'hello' });
    for await (const { type, value } of client)
      if (type === 'said') {
        assert.equal(value.text, 'hello');
        break;
      }
    client.disconnect();
  });

  test(`${transport}: an aborted attempt rejects and leaves nothing open`, async (t) => {
    const place = await startSecureServer(t);
    const controller = new AbortController();
    const attempt = join(place, {
      token: await place.server.token({ privateKey: new Uint8Array(32).fill(1) }),
      signal: controller.signal,
      onstate: (state) => state === 'requesting' && controller.abort(),
      ...options,
    });
    await assert.rejects(attempt, { name: 'AbortError' });
    await until(
      'the relay has no session',
      async () => (await place.relay.stats()).sessions_open === 0,
    );
  });
}

test('a relay that does not answer is a ConnectError that says so', async () => {
  const silent = (await import('node:http')).createServer(() => {});
  await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const attempt = WebRtcTransport.connect(`http://127.0.0.1:${silent.address().port}/`, {
    RTCPeerConnection,
    timeoutSeconds: 0.2,
  });
  await assert.rejects(attempt, { name: 'ConnectError', stage: 'signalling', timedOut: true });
  silent.closeAllConnections();
  silent.close();
});

test('a peer connection that fails is closed, wherever it fails', async () => {
  const steps = ['createDataChannel', 'createOffer', 'setLocalDescription'];
  for (const step of steps) {
    let closed = 0;
    class Broken extends RTCPeerConnection {
      close() {
        closed++;
        super.close();
      }
    }
    Broken.prototype[step] = () => {
      throw new Error(step);
    };
    const options = { RTCPeerConnection: Broken };
    await assert.rejects(WebRtcTransport.connect('http://127.0.0.1:1/', options), {
      message: step,
    });
    assert.equal(closed, 1);
  }
});

test('an engine that gives no further peer connection is a ConnectError', async () => {
  const options = {
    RTCPeerConnection: class {
      constructor() {
        throw new Error('too many');
      }
    },
  };
  await assert.rejects(WebRtcTransport.connect('http://127.0.0.1:1/', options), (error) => {
    assert.ok(error instanceof ConnectError);
    assert.equal(error.stage, 'setup');
    assert.match(error.message, /too many/);
    return true;
  });
});
