// A real relay in front of a real UDP server, for the length of a test.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * Starts a UDP server that answers every datagram with the array of datagrams that `answer` returns for it. Without
 * `answer` it sends them back as they are.
 */
export async function startUdpServer(answer = (datagram) => [datagram]) {
  const socket = createSocket('udp4');
  const received = [];
  socket.on('message', (datagram, from) => {
    received.push({ datagram, from });
    for (const reply of answer(datagram)) socket.send(reply, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    received,
    send: (datagram, to) => socket.send(datagram, to.port, to.address),
    stop: () => new Promise((resolve) => socket.close(resolve)),
  };
}

/**
 * Starts the relay that CAUSEWAY_RELAY names, on any free port of the loopback interface. It takes any datagrams: see
 * startGatedRelay.
 */
export const startRelay = (upstreamPort, ...options) =>
  startGatedRelay(upstreamPort, '--raw', ...options);

/** Starts a relay that takes secure connections only. */
export async function startGatedRelay(upstreamPort, ...options) {
  const program = process.env.CAUSEWAY_RELAY;
  if (!program) throw new Error('CAUSEWAY_RELAY must name the relay program');
  const relay = spawn(
    program,
    [
      ...['--listen', '127.0.0.1:0', '--upstream', `127.0.0.1:${upstreamPort}`],
      ...['--drain-timeout', '0', ...options],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = once(relay, 'close').then(([code]) => code);
  const log = [];
  const port = await new Promise((resolve, reject) => {
    createInterface(relay.stderr).on('line', (line) => {
      log.push(line);
      const match = /listening on 127\.0\.0\.1:(\d+)/.exec(line);
      if (match) resolve(Number(match[1])); // the line is the last one of the start
    });
    void exited.then((code) =>
      reject(new Error(`the relay ended with ${code}: ${log.join('\n')}`)),
    );
  });
  const rtcPorts = [...log.join('\n').matchAll(/webrtc on udp \S+:(\d+)/g)].map(([, text]) =>
    Number(text),
  );
  return {
    port,
    /** The UDP ports of WebRTC, with --rtc: one of each worker. */
    rtcPorts,
    rtcPort: rtcPorts[0],
    url: `http://127.0.0.1:${port}/`,
    log,
    signal: (name) => relay.kill(name),
    /** Asks the relay to end, and returns its exit code. */
    stop: (signal = 'SIGTERM') => {
      relay.kill(signal);
      return exited;
    },
  };
}
