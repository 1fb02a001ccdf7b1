// A page that speaks rudp or packet notification with rudp_echo or notify_echo, through a relay with --raw.
// `?protocol=` in the address of the page says which: rudp or notify.
import { openTransport } from 'causeway-net/core';
import { Bunch, Rudp, loadProtocols } from 'causeway-net/protocols';

const PACKAGES = 100;
const TICK_MS = 1000 / 60;

const core = await loadProtocols();

/** Each protocol makes an end, says something with it, lets a tick pass, and tells an echo from other events. */
const protocols = {
  rudp: {
    make: () => new Rudp(core),
    say: (end, data) => end.send(data),
    pass: (end) => end.update(1),
    isEcho: ({ type }) => type === 'package',
  },
  notify: {
    make: () => new Bunch(core),
    say: (end, data) => end.send(0, data),
    pass: (end) => end.update(performance.now() / 1000),
    isEcho: ({ type }) => type === 'bunch',
  },
};

const name = new URLSearchParams(location.search).get('protocol') ?? 'rudp';
const { make, say, pass, isEcho } = protocols[name] ?? protocols.rudp;
const show = (text) => (document.querySelector('output').textContent = text);

const transport = await openTransport(location.origin);
const end = make();
transport.ondatagram = (datagram) => end.receive(datagram);

let sent = 0;
let came = 0;
const ticks = setInterval(() => {
  if (sent < PACKAGES) say(end, new TextEncoder().encode(`package ${++sent}`));
  pass(end);
  for (let event; (event = end.next());) came += isEcho(event);
  for (let datagram; (datagram = end.transmit());) transport.send(datagram);
  show(`${came} of ${PACKAGES} packages have come back.`);
}, TICK_MS);

const { reason } = await transport.closed;
clearInterval(ticks);
show(`The transport has ended: ${reason || 'no reason'}.`);
