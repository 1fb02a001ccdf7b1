// Bots: they play over UDP, without a relay, and print how long the server takes to answer.
//   node bot.mjs BACKEND [COUNT]     as in: node bot.mjs http://127.0.0.1:8081 10
import { connectUdp } from 'causeway-net/server';
import { retry, tokensFrom } from './join.js';
import { messages } from './messages.js';

const [, , backend, count = '1'] = process.argv;
if (!URL.canParse(backend) || !(count > 0)) {
  console.error(
    'usage: node bot.mjs BACKEND [COUNT], as in: node bot.mjs http://127.0.0.1:8081 10',
  );
  process.exit(2);
}

async function play(number) {
  const bot = await connectUdp({ token: tokensFrom(backend), schema: messages });
  process.once('SIGINT', () => bot.disconnect()); // the server need not wait for a timeout
  const timer = setInterval(() => {
    // There is no room while a reliable channel waits for a server that does not answer.
    if (bot.writable) bot.send('say', { text: String(performance.now()) });
  }, 1000);
  for await (const { value } of bot)
    console.log(`bot ${number}: ${(performance.now() - Number(value.text)).toFixed(1)} ms`);
  clearInterval(timer);
  console.log(`bot ${number} has ended: ${(await bot.closed).reason}`);
}

for (let number = 1; number <= Number(count); number++)
  void retry(
    () => play(number),
    (text) => console.error(`bot ${number}: ${text}`),
  );
