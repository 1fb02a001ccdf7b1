// An echo page: it sends what is typed to the game server, and shows what comes back.
import { connect } from 'causeway-net';
import { retry, tokensFrom } from './join.js';
import { messages } from './messages.js';

// The relay serves this page. The backend has another port, which `?backend=PORT` in the address of the page names.
const relay = location.origin;
const port = new URLSearchParams(location.search).get('backend') ?? '8081';
const backend = `${location.protocol}//${location.hostname}:${port}`;

const form = document.querySelector('form');
const list = document.querySelector('ol');
const state = document.querySelector('output');

const show = (text) => (state.textContent = text);

function add(text) {
  const item = document.createElement('li');
  item.textContent = text;
  list.append(item);
  item.scrollIntoView();
}

async function play() {
  const client = await connect(relay, { token: tokensFrom(backend), schema: messages });
  client.addEventListener('state', () => show(client.state));
  show(client.state);
  form.send.disabled = false;
  form.onsubmit = (event) => {
    event.preventDefault();
    if (!client.writable) return show('the server is too slow: try again');
    client.send('say', { text: form.text.value }); // reliable, and in order: messages.js says so
    form.reset();
  };
  for await (const { value } of client) add(value.text);
  show(`ended: ${(await client.closed).reason}`);
}

await retry(play, show);
