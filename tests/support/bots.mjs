// Bots in a process of their own, so that they play while the server's process is busy: they get the tokens as a
// message, say and move so many times a second, and report when each has the worlds that it waits for, and how it has
// ended. With a `url` they come over WebSocket, as pages do.
import { connectUdp } from '../../web/dist/server/index.js';
import { connect } from './causeway.mjs';
import { messages } from './chat_schema.mjs';
import { WebSocket } from './websocket.mjs';

process.once('message', async ({ tokens, worlds, hertz, url }) => {
  const enter = (token) => {
    const options = { token: Buffer.from(token, 'base64'), schema: messages };
    return url
      ? connect(url, { ...options, transports: ['websocket'], WebSocket })
      : connectUdp(options);
  };
  const bots = await Promise.all(tokens.map(enter));
  process.send({ type: 'connected' });
  let waiting = bots.length;
  for (const bot of bots) {
    let seen = 0;
    let said = 0;
    const timer = setInterval(() => {
      bot.send(1, 'move', { x: Math.random(), y: 0.5 });
      if (said < 50) bot.send(0, 'say', { text: `${said++}` });
    }, 1000 / hertz);
    bot.addEventListener('message', ({ message }) => {
      if (message.type === 'world' && ++seen === worlds && --waiting === 0)
        process.send({ type: 'served' });
    });
    void bot.closed.then(({ reason }) => {
      clearInterval(timer);
      process.send({ type: 'ended', reason });
    });
  }
});

process.on('disconnect', () => process.exit());
