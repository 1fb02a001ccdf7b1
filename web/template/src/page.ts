// The page: it flies the player's own ship, and draws everything.
import { connect } from 'causeway-net';
import { playGame } from 'causeway-net/game';
import { controls } from './controls.js';
import { color, drawShip, drawStar, look } from './drawing.js';
import { SIZE, messages, rules } from './game.js';

const state = document.querySelector('#state')!;
const scores = document.querySelector('#scores')!;

/** Where the server is: where the page comes from, unless it was built for another place. */
const home: string = import.meta.env.VITE_SERVER ?? import.meta.env.BASE_URL;

async function token(): Promise<ArrayBuffer> {
  const response = await fetch(`${home}token`, { method: 'POST', cache: 'no-store' });
  if (!response.ok) throw new Error(await response.text());
  return response.arrayBuffer();
}

async function play(): Promise<void> {
  const client = await connect(home, { token, schema: messages });
  const show = () => (state.textContent = client.state);
  client.addEventListener('state', show);
  show();
  void client.closed.then(({ reason }) => (state.textContent = `ended: ${reason}`));
  await playGame(client, {
    ...rules,
    keys: controls(document.querySelector<HTMLElement>('#stick')!),
    draw({ me, own, entities }) {
      look(own ?? { x: SIZE / 2, y: SIZE / 2 });
      for (const { type, value } of entities) if (type === 'star') drawStar(value);
      const ships = entities.filter((entity) => entity.type === 'ship');
      for (const { id, value } of ships) drawShip(value, id, id === me);
      ships.sort((one, two) => two.value.score - one.value.score);
      const lines = ships.slice(0, 5).map(({ id, value: { score } }) => {
        const text = `${id === me ? 'You' : `Ship ${id + 1}`}: ${score}`;
        return Object.assign(document.createElement('li'), {
          textContent: text,
          style: `color: ${color(id)}`,
        });
      });
      scores.replaceChildren(...lines);
    },
  });
}

play().catch((error: Error) => {
  state.textContent = error.message;
});
