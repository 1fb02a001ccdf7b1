// A server of a project that has not installed the package ws, which is needed only where browsers come to the server.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packedProject } from '../support/packed.mjs';

const { folder, run, write } = packedProject(test);
rmSync(join(folder, 'node_modules/ws'));

/** Runs a server with these options, which ends at once; returns what it says. */
function serve(options) {
  write(
    'server.mjs',
    `import { createServer } from 'node:http';
     import { schema, message, bool } from 'causeway-net';
     import { listen } from 'causeway-net/server';
     const common = { protocolId: 1n, schema: schema(message('go', { on: bool() })) };
     try {
       const server = await listen({ ...common, ${options} });
       await server.close();
       console.log('it has listened');
     } catch ({ name, code, message }) {
       console.log(name, code, message);
     }`,
  );
  return run(process.execPath, 'server.mjs').trim();
}

test('it says which package to install, and how', () =>
  assert.equal(
    serve('server: createServer()'),
    'ConnectError LOAD listen with a server needs the package ws: npm install ws',
  ));

test('without browsers it needs none', () => assert.equal(serve(''), 'it has listened'));
