// A lobby: whoever enters asks who is here. A request is a question that gets one answer, or is refused.
//   node lobby.mjs PORT                   the server; with port 0 it takes any free port, which its first line says
//   node lobby.mjs ADDRESS:PORT NAME      a player of that name, until Ctrl-C
import { array, refuse, request, schema, string } from 'causeway-net';
import { connectUdp, generateInsecureToken, listen } from 'causeway-net/server';

const lobby = schema(request('enter', { name: string(16) }, { here: array(string(16), 64) }));
const NAME_TAKEN = 409;
const protocolId = 2n;

async function serve(port) {
  const names = new Map();
  const server = await listen({ protocolId, schema: lobby, port, insecure: true }); // for development
  server.answer('enter', ({ name }, client) => {
    const here = [...names.values()];
    if (here.includes(name)) refuse(NAME_TAKEN);
    names.set(client, name);
    client.addEventListener('disconnect', () => names.delete(client));
    return { here };
  });
  console.log(`a lobby on port ${server.port}`);
}

async function play(address, name) {
  const [clientId] = crypto.getRandomValues(new BigUint64Array(1));
  const options = { protocolId, schema: lobby, clientId, servers: [address] };
  const player = await connectUdp({ token: await generateInsecureToken(options), schema: lobby });
  process.once('SIGINT', () => player.disconnect()); // the name is free at once
  try {
    const { here } = await player.request('enter', { name }, { timeoutSeconds: 5 });
    console.log(`${name} enters, and meets ${here.join(', ') || 'nobody'}`);
  } catch (error) {
    console.error(error.refusal === NAME_TAKEN ? `${name} is here already` : error.message);
    player.disconnect();
  }
}

const [, , where, name] = process.argv;
if (name) await play(where, name);
else if (/^\d+$/.test(where)) await serve(Number(where));
else {
  console.error('usage: node lobby.mjs PORT, or: node lobby.mjs ADDRESS:PORT NAME');
  process.exitCode = 2;
}
