// The package as its users get it: packed, unpacked into a project, typed, bundled.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUILT } from '../../web/scripts/built.mjs';
import { modules, packedProject, web } from '../support/packed.mjs';
import { read_sbom } from '../support/sbom.mjs';

const { folder: project, run, write } = packedProject(test);

test('the bill of materials has the hashes of the modules', () => {
  const file = (name) => join(project, 'package', name);
  const { component } = read_sbom(file('dist/causeway.cdx.json'), [
    'libsodium',
    'emscripten',
  ]).metadata;
  const { name, version } = JSON.parse(readFileSync(file('package.json'), 'utf8'));
  assert.deepEqual([component.name, component.version], [name, version]);
  assert.deepEqual(
    component.components.map(({ name }) => name),
    [
      'dist/causeway.wasm',
      'dist/causeway-game.wasm',
      'dist/causeway-game-server.wasm',
      'dist/causeway-protocols.wasm',
      'dist/causeway-server.wasm',
    ],
  );
  for (const module of component.components) {
    const sha256 = createHash('sha256')
      .update(readFileSync(file(module.name)))
      .digest('hex');
    assert.deepEqual(module.hashes, [{ alg: 'SHA-256', content: sha256 }]);
  }
});

test('the archive has what is exported and nothing of the tests', () => {
  const files = readdirSync(join(project, 'package'), { recursive: true }).sort();
  for (const file of [
    'README.md',
    'DEPLOY.md',
    'SERVER.md',
    'LICENSE',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/causeway.wasm',
    'dist/causeway-game.wasm',
    'dist/causeway-game-server.wasm',
    'dist/causeway-protocols.wasm',
    'dist/causeway-server.wasm',
    'dist/core/index.js',
    'dist/core/index.d.ts',
    'dist/doctor/index.js',
    'dist/doctor/index.d.ts',
    'dist/game/index.js',
    'dist/game/index.d.ts',
    'dist/protocols/index.js',
    'dist/protocols/index.d.ts',
    'dist/server/index.js',
    'dist/server/index.d.ts',
    'bin/causeway-net.mjs',
    'template/gitignore',
  ])
    assert.ok(files.includes(file), `${file} is missing`);
  assert.deepEqual(
    files.filter((file) => /test|node_modules|CMake|^tsconfig/.test(file)),
    [],
  );
});

test('what has no source any more is not packed', () => {
  const root = join(project, 'stale');
  const copy = join(root, 'web');
  for (const file of ['package.json', 'tsconfig.json', 'scripts', 'src'])
    cpSync(join(web, file), join(copy, file), { recursive: true });
  for (const file of [...BUILT, 'index.js'])
    cpSync(join(web, 'dist', file), join(copy, 'dist', file));
  symlinkSync(modules, join(copy, 'node_modules'));
  for (const room of ['core', 'relay', 'wasm'])
    symlinkSync(join(web, '..', room), join(root, room));
  for (const file of ['gone.js', 'gone/gone.d.ts'])
    cpSync(join(web, 'package.json'), join(copy, 'dist', file));
  run('npm', 'run', '--prefix', copy, 'build');
  const [{ files }] = JSON.parse(run('npm', 'pack', '--json', '--dry-run', copy));
  const packed = files.map(({ path }) => path).filter((path) => path.startsWith('dist/'));
  const whole = readdirSync(join(project, 'package/dist'), { recursive: true });
  assert.deepEqual(
    packed.filter((path) => !whole.includes(path.slice(5))),
    [],
  );
  assert.ok(packed.includes('dist/index.js') && packed.includes('dist/causeway.wasm'));
});

test('nothing is packed before it is built', () => {
  const bare = join(project, 'bare');
  for (const file of ['package.json', 'scripts/packable.mjs', 'scripts/built.mjs'])
    cpSync(join(web, file), join(bare, file));
  const pack = () => run('npm', 'pack', '--pack-destination', bare, bare);
  assert.throws(pack, /dist\/index\.js is not built yet/);
  cpSync(join(web, 'dist/index.js'), join(bare, 'dist/index.js'));
  assert.throws(pack, /dist\/causeway\.wasm is not built yet/);
});

test('Node imports it by name', () => {
  write(
    'main.js',
    `import { Endpoint, loadCore } from 'causeway-net/core';
     import { createRequire } from 'node:module';
     const endpoint = new Endpoint(await loadCore());
     const { resolve } = createRequire(import.meta.url);
     console.log(endpoint.maxPacketSize, resolve('causeway-net/causeway.wasm').slice(-18), resolve('causeway-net/package.json').slice(-12));`,
  );
  assert.equal(run(process.execPath, 'main.js').trim(), '4096 dist/causeway.wasm package.json');
});

const compile = (source, ...options) => {
  write('main.ts', source);
  run(
    process.execPath,
    join(modules, 'typescript/bin/tsc'),
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    ...options,
    'main.ts',
  );
};

/** Compiles the source as Node resolves it, and as bundlers do. */
const compileForAll = (source) => {
  compile(source, '--module', 'nodenext', '--lib', 'es2022,dom', '--types', 'node');
  compile(
    source,
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--lib',
    'es2022,dom',
    '--types',
    'node',
    '--exactOptionalPropertyTypes',
  );
};

test('the types need nothing of a project but the DOM', () => {
  compile(
    `import { GameClient } from 'causeway-net'; export const slot = (client: GameClient) => client.slot.index;`,
    ...['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom'],
    ...['--types', ''],
  );
});

test('no export shadows a name of the platform', () => {
  compileForAll(`
    import type * as causeway from 'causeway-net/core';
    type Shadows = keyof typeof causeway & keyof typeof globalThis;
    export const none: [Shadows] extends [never] ? true : Shadows = true;`);
});

test('the types say what may be passed and what comes back', () => {
  const source = `
    import { MisuseError, Endpoint, loadCore, WebSocketTransport, type Transport } from 'causeway-net/core';
    import { WebSocket } from 'ws';
    const core = await loadCore({ wasm: fetch('causeway.wasm') });
    const endpoint = new Endpoint(core, { maxPacketSize: 1000 });
    const sequence: number = endpoint.send(new Uint8Array(1), 0);
    // @ts-expect-error the time is missing
    endpoint.send(new Uint8Array(1));
    // @ts-expect-error no such setting
    new Endpoint(core, { packetSize: 1 });
    // @ts-expect-error internals are not for users
    endpoint.address;
    for (const event of endpoint.events()) {
      // @ts-expect-error only packets have a payload
      event.payload;
      if (event.type === 'packet') event.payload.length;
      endpoint.accept(event.sequence);
    }
    try {
      endpoint.update(sequence);
    } catch (error) {
      if (error instanceof MisuseError && error.code === 'EVENTS_PENDING') endpoint.reset();
      // @ts-expect-error no such code
      if (error instanceof MisuseError && error.code === 'EVENTS') endpoint.reset();
    }
    const transport: Transport = await WebSocketTransport.connect('wss://x/', { WebSocket });
    transport.ondatagram = (datagram) => void endpoint.receive(datagram, 0);
    for (let out = endpoint.transmit(0); out; out = endpoint.transmit(0)) transport.send(out);
    // @ts-expect-error the state is not the user's to set
    transport.state = 'closed';
    export {};`;
  compileForAll(source);
});

test('the game kit has the types that the declaration of a schema says', () => {
  compileForAll(`
    import { int, message, schema } from 'causeway-net';
    import { ClockSync, InputReceiver, Prediction, SnapshotServer, loadGame } from 'causeway-net/game';
    const game = schema(message('press', { way: int(-1, 1) }), message('walker', { x: int(0, 9), y: int(0, 9) }));
    const kit = await loadGame({ wasm: new Uint8Array(1) });
    const prediction = new Prediction(kit, game, { input: 'press', state: 'walker' }, { tolerances: { x: 1 } });
    const { x } = prediction.replay({ x: 1, y: 2 }, ({ x, y }, { way }) => ({ x: x + way, y }));
    const field: 'x' | 'y' | undefined = prediction.stats().errorField;
    const way: number = new InputReceiver(kit, game, 'press', { maxRepeats: 3 }).take(1).input.way;
    const synced: boolean = new ClockSync(kit).stats(0).synced;
    const server = new SnapshotServer(kit, game);
    server.set(0, 'walker', { x, y: way });
    // @ts-expect-error no such type
    server.set(0, 'runner', { x, y: way });
    // @ts-expect-error a field is missing
    server.set(0, 'walker', { x });
    // @ts-expect-error of another type
    prediction.add(1, { way: 0 }, { way: 0 });
    // @ts-expect-error the state has no such field
    new Prediction(kit, game, { input: 'press', state: 'walker' }, { tolerances: { z: 1 } });
    // @ts-expect-error the schema says the type
    new InputReceiver(kit, game, 'press', { type: 1 });
    export { field, synced };`);
});

test('a game has the types that its rules say', () => {
  compileForAll(`
    import { bool, int, message, schema, type GameClient } from 'causeway-net';
    import { gameMessage, playGame, serveGame } from 'causeway-net/game';
    import type { GameServer } from 'causeway-net/server';
    const messages = schema(gameMessage, message('say', { loud: bool() }));
    const others = schema(message('say', { loud: bool() }));
    declare const client: GameClient<typeof messages>;
    declare const server: GameServer<typeof messages>;
    declare const other: GameClient<typeof others>;
    const entities = schema(
      message('car', { x: int(0, 9), speed: int(0, 9) }),
      message('ball', { y: int(0, 9) }),
      message('press', { gas: int(0, 1) }),
    );
    const both = { entities, player: 'car', input: 'press' } as const;
    const keys = () => ({ gas: 1 });
    const played = await playGame(client, {
      ...both,
      step: (car, press) => ({ ...car, x: car.x + press.gas }),
      smooth: { car: { x: 2 }, ball: { y: 1 } },
      keys,
      draw({ me, own, entities }) {
        const [at, number]: (number | undefined)[] = [own?.x, me];
        for (const entity of entities)
          if (entity.type === 'ball') entity.value.y;
          else entity.value.speed;
        // @ts-expect-error an input is no entity
        entities.filter(({ type }) => type === 'press');
      },
    });
    const corrections: number = played.stats().prediction.corrections;
    const served = await serveGame(server, {
      ...both,
      step: (car, press) => ({ ...car, x: car.x + press.gas }),
      join: ({ id }) => ({ x: Number(id), speed: 0 }),
      tick(game) {
        for (const player of game.players) {
          const seen = player.sees(player)?.speed;
          player.state.x += player.input.gas + (seen ?? 0);
          // @ts-expect-error there is no such field
          player.state.y = 1;
        }
        game.set(70, 'ball', { y: 1 });
        // @ts-expect-error a field of another type
        game.set(70, 'car', { y: 1 });
      },
    });
    // @ts-expect-error the schema of the connection has no gameMessage
    void playGame(other, { ...both, step: (car) => car, keys, draw: () => {} });
    // @ts-expect-error no such type
    void playGame(client, { entities, player: 'cart', input: 'press', step: (car) => car, keys, draw: () => {} });
    export { corrections, served };`);
});

test('a server has the types that the declaration of a schema says', () => {
  compileForAll(`
    import { array, message, schema, string, uint } from 'causeway-net';
    import { connectUdp, listen, type ServerClient } from 'causeway-net/server';
    const messages = schema(
      message('say', { text: string(9), to: array(uint(0, 9), 2) }),
      message('file', { name: string(9) }, { block: true }),
    );
    const server = await listen({ protocolId: 1n, schema: messages });
    server.addEventListener('connect', ({ client }) => {
      const one: ServerClient<typeof messages> = client;
      client.addEventListener('message', ({ message }) => {
        if (message.type === 'say') client.send(0, 'say', message.value);
        // @ts-expect-error which message it is comes first
        message.value.text;
      });
      client.addEventListener('disconnect', ({ reason }) => {
        const left: boolean = reason === 'client';
        // @ts-expect-error no such reason
        const lost: boolean = reason === 'transport';
      });
      client.kick('bye', { code: 1, flushSeconds: 1 });
      // @ts-expect-error a code is a number
      client.kick('bye', { code: '1' });
      const refused: ServerClient<typeof messages>[] = server.broadcast(0, 'file', { name: '' }, new Uint8Array(1));
      // @ts-expect-error the block is missing
      server.broadcast(0, 'file', { name: '' });
      // @ts-expect-error a field is missing
      server.broadcastTo([one], 0, 'say', { text: '' });
      client.broadcast('say', { text: '', to: [] });
      server.broadcastTo([one], 'say', { text: '', to: [] });
      // @ts-expect-error no such message
      server.broadcast('sing', {});
      // @ts-expect-error no such message
      client.broadcast(0, 'sing', {});
    });
    // @ts-expect-error no such event
    server.addEventListener('connection', ({ client }) => client);
    server.addEventListener('tick', ({ tick }) => tick.toFixed());
    // @ts-expect-error the protocol id is missing
    await listen({ schema: messages });
    const bot = await connectUdp({ token: new Uint8Array(2048), schema: messages });
    bot.send(0, 'say', { text: '', to: [] });
    export {};`);
});

test('structs have the types that their declaration says', () => {
  compileForAll(`
    import { array, bits, f32, message, optional, schema, string, struct, type MessageValue } from 'causeway-net';
    const point = struct({ x: f32(), y: f32(), name: optional(string(9)) });
    const messages = schema(
      message('ship', { at: point, target: optional(point), shots: array(struct({ at: point, kind: bits(3) }), 8) }),
    );
    type Ship = MessageValue<typeof messages, 'ship'>;
    const at = { x: 1, y: 2 };
    const ship: Ship = { at, shots: [{ at: { ...at, name: 'a' }, kind: 5 }] };
    const x: number | undefined = ship.target?.x;
    const name: string | undefined = ship.shots[0]!.at.name;
    ship.at.x = 3;
    // @ts-expect-error a struct is an object with all its fields
    const half: Ship = { at: { x: 1 }, shots: [] };
    // @ts-expect-error of the right kinds
    const wrong: Ship = { at: { x: 1, y: '2' }, shots: [] };
    // @ts-expect-error and no others
    const more: Ship = { at: { x: 1, y: 2, z: 3 }, shots: [] };
    // @ts-expect-error it may be missing
    ship.target.x;
    // @ts-expect-error only fields can be in a struct
    struct({ x: 1 });
    export { x, name, half, wrong, more };`);
});

test('messages have the types that their declaration says', () => {
  compileForAll(`
    import {
      array, bits, bool, bytes, compressedFloat, connect, f32, f64, int, int64, loadCore, message,
      optional, schema, string, uint, uint64, Connection, ConnectionHost,
      type GameClient, type Message, type MessageName, type MessageValue, type Transport,
    } from 'causeway-net/core';
    const messages = schema(
      message('move', {
        x: f32(), y: f64(), angle: compressedFloat(-180, 180, 0.5), direction: int(0, 7),
        count: uint(0, 9), nibble: bits(4), id: int64(0n, 9n), far: uint64(0n, 9n), fast: bool(),
        target: optional(bits(12)), nick: optional(string(9)),
      }),
      message('say', { text: string(200), to: array(string(20), 4), flags: array(bool(), 4) }),
      message('ping', {}),
      message('file', { name: string(30), hash: bytes(32) }, { block: true }),
    );
    type Messages = typeof messages;
    const token = new Uint8Array(2048);
    const client: GameClient<Messages> = await connect('wss://x/', { token, schema: messages });

    const names: Record<MessageName<Messages>, number> = { move: 0, say: 1, ping: 2, file: 3 };
    // @ts-expect-error a name is missing
    const few: Record<MessageName<Messages>, number> = { move: 0, say: 1, ping: 2 };
    const move: MessageValue<Messages, 'move'> = {
      x: 1, y: 1, angle: 1, direction: 2, count: 3, nibble: 4, id: 5n, far: 6n, fast: true,
    };
    move.target = 7;
    const say = { text: '', to: ['a'], flags: [true] };
    const file = { name: '', hash: new Uint8Array(32) };
    client.send(1, 'move', move);
    client.send(1, 'move', { ...move, target: 5, nick: undefined });
    client.send(0, 'say', say);
    client.send(0, 'say', { ...say, to: [] });
    client.send(0, 'ping', {});
    client.send(0, 'file', file, new Uint8Array(9));
    client.send('say', say);
    client.send('file', file, new Uint8Array(9));
    // @ts-expect-error no such message
    client.send('shout', say);
    // @ts-expect-error the value of another message
    client.send('say', move);
    // @ts-expect-error the block is missing
    client.send('file', file);
    // @ts-expect-error this type carries no block
    client.send('say', say, new Uint8Array(9));
    // @ts-expect-error a channel is a number
    client.send('0', 'say', say);
    // @ts-expect-error no such option
    message('say', { text: string(9) }, { ordered: true });
    // @ts-expect-error no such message
    client.send(0, 'shout', say);
    // @ts-expect-error the value is missing
    client.send(0, 'ping');
    // @ts-expect-error the value of another message
    client.send(0, 'say', move);
    // @ts-expect-error fields are missing
    client.send(0, 'say', { text: '' });
    // @ts-expect-error no such field
    client.send(0, 'say', { text: '', to: [], flags: [], volume: 1 });
    // @ts-expect-error an array is more than one
    client.send(0, 'say', { ...say, to: 'a' });
    // @ts-expect-error the items of the array are texts
    client.send(0, 'say', { ...say, to: [1] });
    // @ts-expect-error the items of the array are booleans
    client.send(0, 'say', { ...say, flags: [1] });
    // @ts-expect-error a number
    client.send(1, 'move', { ...move, x: '1' });
    // @ts-expect-error a number
    client.send(1, 'move', { ...move, y: 1n });
    // @ts-expect-error a number
    client.send(1, 'move', { ...move, angle: '1' });
    // @ts-expect-error a number
    client.send(1, 'move', { ...move, direction: '1' });
    // @ts-expect-error a number
    client.send(1, 'move', { ...move, count: 1n });
    // @ts-expect-error a number
    client.send(1, 'move', { ...move, nibble: true });
    // @ts-expect-error 64 bits are a bigint
    client.send(1, 'move', { ...move, id: 1 });
    // @ts-expect-error 64 bits are a bigint
    client.send(1, 'move', { ...move, far: 1 });
    // @ts-expect-error a boolean
    client.send(1, 'move', { ...move, fast: 1 });
    // @ts-expect-error an optional field has a type too
    client.send(1, 'move', { ...move, target: '5' });
    // @ts-expect-error bytes are an array of bytes
    client.send(0, 'file', { ...file, hash: 'abc' });
    // @ts-expect-error a block is bytes
    client.send(0, 'file', file, 'block');
    // @ts-expect-error the block is missing
    client.send(0, 'file', file);
    // @ts-expect-error this type carries no block
    client.send(0, 'say', say, new Uint8Array(9));
    // @ts-expect-error it has no fields
    client.send(0, 'ping', { x: 1 });
    const fate: 'acked' | 'lost' = await client.track(1, 'move', move);
    await client.track('move', move);
    // @ts-expect-error no such message
    await client.track('mov', move);
    await client.track(0, 'file', file, new Uint8Array(9));
    // @ts-expect-error the block is missing
    await client.track(0, 'file', file);

    const take = (each: Message<Messages>): void => {
      const channel: number = each.channel;
      // @ts-expect-error which message it is comes first
      each.value.text;
      // @ts-expect-error what arrived is not written to
      each.channel = 1;
      if (each.type === 'move') {
        const x: number = each.value.x;
        const id: bigint = each.value.id;
        const fast: boolean = each.value.fast;
        const target: number | undefined = each.value.target;
        // @ts-expect-error it may be left out
        const sure: number = each.value.target;
        // @ts-expect-error the field of another message
        each.value.text;
      } else if (each.type === 'say') {
        const to: string[] = each.value.to;
        const flags: boolean[] = each.value.flags;
        // @ts-expect-error not one text
        const one: string = each.value.to;
        // @ts-expect-error it carries no block
        const block: Uint8Array = each.block;
      } else if (each.type === 'file') {
        const hash: Uint8Array = each.value.hash;
        const block: Uint8Array = each.block;
      } else {
        const ping: 'ping' = each.type;
        const none: never = each.value.name; // it has no fields
      }
      // @ts-expect-error no such message
      if (each.type === 'shout') return;
    };
    client.addEventListener('message', (event) => take(event.message));
    client.addEventListener('message', ({ message: each }) => {
      if (each.type === 'say') each.value.text.length;
      // @ts-expect-error which message it is comes first
      each.value.text;
    });
    const ended = ({ reason }: { reason: string }): void => console.log(reason);
    client.addEventListener('disconnect', ended);
    client.removeEventListener('disconnect', ended);
    client.removeEventListener('message', (event) => take(event.message));
    // @ts-expect-error another event
    client.removeEventListener('message', ended);
    for await (const { type, value } of client) if (type === 'say') value.text.length;
    const next = client.next();
    if (next) take(next);
    // @ts-expect-error there may be none
    take(client.next());

    const endpoint = { maxPacketSize: 4096, fragmentAbove: 1000 };
    await connect('wss://x/', { token, schema: messages, endpoint, maxReceivedMessages: 9 });
    // @ts-expect-error no such option
    await connect('wss://x/', { token, schema: messages, endpoint: { packetSize: 1 } });

    const core = await loadCore();
    const connection = new Connection(core, messages, { endpoint });
    connection.send(0, 'say', say, 0);
    // @ts-expect-error the value of another message
    connection.send(0, 'say', move, 0);
    const host = new ConnectionHost(core, messages, {} as Transport);
    host.send(0, 'say', say);
    // @ts-expect-error the value of another message
    host.send(0, 'say', file);
    host.addEventListener('message', (event) => take(event.message));
    export {};`);
});

const SCHEMA = `import { message, schema, uint } from 'causeway-net';
  import { most } from './limits.js';
  export const game = schema(message('hit', { points: uint(0, most) }));`;
const USER = `import { connect, type MessageValue } from 'causeway-net';
  import { game } from './game.js';
  const hit: MessageValue<typeof game, 'hit'> = { points: 9 };
  const client = await connect('wss://x/', { token: new Uint8Array(2048), schema: game });
  client.send(0, 'hit', hit);
  // @ts-expect-error no such message
  client.send(0, 'miss', hit);
  export {};`;
const header = (file) =>
  run(process.execPath, 'node_modules/causeway-net/bin/causeway-schema.mjs', file);

test('a schema in TypeScript is for page, backend and server', () => {
  mkdirSync(join(project, 'shared'));
  write('shared/limits.ts', 'export const most: number = 100;');
  write('shared/game.ts', SCHEMA);
  assert.throws(() => header('shared/game.ts'), /game\.ts is TypeScript: npm install .*typescript/);
  for (const name of ['typescript', '@typescript'])
    symlinkSync(join(modules, name), join(project, 'node_modules', name));
  const text = header('shared/game.ts');
  assert.match(text, /causeway-schema has made this from game\.ts/);
  assert.match(text, /FIELD\(points, CW_UINT\(0, 100\)\)/);
  assert.deepEqual(readdirSync(join(project, 'shared')).sort(), ['game.ts', 'limits.ts']);
  compileForAll(USER.replace('./game', './shared/game'));

  write('shared/wrong.ts', 'export const game = ;');
  assert.throws(() => header('shared/wrong.ts'), /wrong\.ts.*error TS1109/);
});

test('a schema in JavaScript has types in a strict project, from declarations', () => {
  write('limits.js', 'export const most = 100;');
  write('game.js', SCHEMA);
  const declare = ['--allowJs', '--declaration', '--emitDeclarationOnly', '--skipLibCheck'];
  const options = [...declare, '--module', 'nodenext', '--target', 'es2022'];
  run(process.execPath, join(modules, 'typescript/bin/tsc'), ...options, 'game.js');
  compileForAll(USER);
});
