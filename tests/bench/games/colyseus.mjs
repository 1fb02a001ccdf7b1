// The game on Colyseus, as its guide says: a reconciler for one's own player, interpolation for the others.
import { createRequire } from 'node:module';
import { join as path } from 'node:path';
import { TICKS_PER_SECOND, begin, step } from './rules.mjs';

const require = createRequire(path(process.env.CAUSEWAY_BUILD, 'colyseus/package.json'));

/** Starts a server; `ticked` is called with the number of each tick. Returns what `join` needs, for each player. */
export async function serve(address, ticked, players) {
  const { Room, Server } = require('@colyseus/core');
  const { schema, t } = require('@colyseus/schema');
  const { WebSocketTransport } = require('@colyseus/ws-transport');
  const Player = schema({ x: t.int32(), y: t.int32() });
  const Move = schema({ right: t.int8(), up: t.int8() });
  const World = schema({ tick: t.uint32(), players: t.map(Player) });

  class Game extends Room {
    inputs = this.defineInput(Move);

    onCreate() {
      this.state = Object.assign(new World(), { tick: 0 });
      this.setFixedTimestep(() => {
        const { players } = this.state;
        for (const [id, player] of players)
          for (const input of this.inputs.get(id))
            step(
              player,
              input,
              [...players.values()].filter((other) => other !== player),
            );
        ticked(++this.state.tick);
      }, TICKS_PER_SECOND);
    }

    onJoin({ sessionId }) {
      const player = Object.assign(new Player(), begin(this.state.players.size));
      this.state.players.set(sessionId, player);
    }
  }

  const server = new Server({ transport: new WebSocketTransport(), greet: false });
  server.define('game', Game);
  await server.listen(2567, address);
  return Array.from({ length: players }, () => `http://${address}:2567`);
}

/** Joins a game. `frame` plays the ticks that are due, and returns the ticks of the others that are shown. */
export async function join(url, keys) {
  const { Client, Predict } = require('@colyseus/sdk');
  const room = await new Client(url).joinOrCreate('game');
  await new Promise((resolve) => {
    room.onStateChange(() => room.state.players.get(room.sessionId) && resolve());
  });
  const { state, sessionId } = room;
  const self = state.players.get(sessionId);
  const others = () => [...state.players].filter(([id]) => id !== sessionId).map(([, at]) => at);
  const predict = Predict.get(room, { mode: 'lerp', delay: 100 });
  predict.attachAll('players', { mode: 'lerp', fields: ['x', 'y'] });
  predict.attach(state, { mode: 'lerp', fields: ['tick'] });
  const input = room.input();
  const own = predict.reconciler(self, {
    input,
    fields: ['x', 'y'],
    step: (_, player, move) => step(player, move, others()),
    smoothMs: 65,
    onReconcile: () => {
      if (own.state.x !== last.x || own.state.y !== last.y) corrections++;
      last = { ...own.state };
    },
  });
  let last = { ...own.state };
  let corrections = 0;
  return {
    corrections: () => corrections,
    frame: (now) => {
      for (let due = predict.tick(now); due > 0; due--) {
        Object.assign(input.data, keys());
        input.send();
      }
      last = { ...own.state };
      return others().map(() => predict.value(state, 'tick'));
    },
  };
}
