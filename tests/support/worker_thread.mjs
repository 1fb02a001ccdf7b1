// A Worker of the package as a thread of Node, with both its ends. As a module of such a thread this file serves the
// page.
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { dist, require } from './causeway.mjs';

/**
 * Opens a thread that looks like a Worker of a page.
 * @param sent a shared Int32Array, the first of whose numbers counts the datagrams that it sends
 */
export function openThread(sent = null) {
  const { port1, port2 } = new MessageChannel();
  const thread = new Worker(new URL(import.meta.url), {
    workerData: { port: port2, sent },
    transferList: [port2],
  });
  const worker = {
    onmessage: null,
    onerror: null,
    postMessage: (message, transfer) => port1.postMessage(message, transfer),
    terminate: () => {
      port1.close();
      return thread.terminate();
    },
    thread,
  };
  port1.on('message', (data) => worker.onmessage?.({ data }));
  thread.on('error', ({ message }) => worker.onerror?.({ message }));
  return worker;
}

if (!isMainThread && workerData?.port) {
  const { serve } = await import(new URL('worker/serve.js', dist));
  const { port, sent } = workerData;
  globalThis.WebSocket = class extends require('ws').WebSocket {
    send(datagram) {
      super.send(datagram);
      if (!sent) return;
      Atomics.add(sent, 0, 1);
      Atomics.notify(sent, 0);
    }
  };
  const self = {
    onmessage: null,
    postMessage: (message, transfer) => port.postMessage(message, transfer),
  };
  serve(self);
  port.on('message', (data) => self.onmessage({ data }));
}
