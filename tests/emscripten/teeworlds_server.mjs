// Debian's server of Teeworlds, on any free port.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

async function freePort() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

/** Starts the server with a snapshot for each of its 50 ticks a second, unknown to all masters. */
export async function startTeeworlds(program) {
  const port = await freePort();
  const home = mkdtempSync(join(tmpdir(), 'causeway-teeworlds-'));
  const options = `bindaddr 127.0.0.1; sv_port ${port}; sv_register 0; sv_high_bandwidth 1`;
  const server = spawn(program, [options], {
    cwd: home,
    env: { ...process.env, HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(server.stdout);
  // The server prints its name when its socket is open. Its later lines are read too, or it could not write them.
  await new Promise((resolve) => {
    lines.on('line', (line) => /server name is/.test(line) && resolve());
  });
  return {
    port,
    stop() {
      server.kill();
      rmSync(home, { recursive: true });
    },
  };
}
