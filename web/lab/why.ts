import type { Waiting } from './lab.js';

/** The situation that a column is mostly in now. */
export type Situation = Waiting | 'queue' | 'overflow' | 'loss';

type Texts = { readonly nothing: string } & { readonly [Key in Situation]?: string };

const CAUSEWAY: Texts = {
  nothing:
    'Each packet carries the newest state, and messages that are not acknowledged yet. Nothing is lost, so all of it is handed over as it arrives.',
  loss: 'Packets are lost, but most of them held only a state, and the next one replaces it. The acks in later packets tell the sender which messages were in a lost packet, and only those are sent again.',
  message:
    'A lost packet held a message, and later messages wait for it because they are delivered in order. It comes again about a round trip later; states do not wait, and so the game goes on.',
  queue:
    'Packets stand in the queue of the bottleneck for longer than the path itself takes, so everything is late, lost or not. States and messages are never held back, so they alone are more than fits through; fewer messages would help.',
  overflow:
    'The queue of the bottleneck is full and drops the packets that come next. The messages in them come again a round trip later, into the same queue.',
  window:
    'As much of the block is under way as the path carries without a queue, so the rest of it waits at the sender. States and messages pass it, and stay as quick as without a block.',
};

const COPIES: Texts = {
  ...CAUSEWAY,
  nothing:
    'Nothing is lost, so each message is sent once and costs no more than without copies. When packets begin to get lost, the next packet repeats the new messages.',
  loss: 'Packets are lost, so each packet repeats the messages of the one before, and the first that arrives delivers them. Most losses then cost no round trip; the price is in the bytes per message.',
  message:
    'Both packets that held a message were lost, so later messages wait for it. It comes again after a round trip, as without copies; this is rare unless packets are lost in a row.',
};

const CODED: Texts = {
  ...CAUSEWAY,
  nothing:
    'Nothing is lost, so each message is sent once and costs hardly more than without combinations. When packets begin to get lost, they also carry combinations of the messages that are not acknowledged yet.',
  loss: 'Packets are lost, so each packet also carries a combination of all unacknowledged messages. As many of them as there are lost messages let the receiver compute those, without asking for anything.',
  message:
    'A lost packet held a message, and later messages wait for it. The next combinations that arrive let the receiver compute it, which takes a few packets instead of a round trip.',
};

const BINARY: Texts = {
  ...CAUSEWAY,
  rate: 'The round trip was high, so the connection is in its bad mode and sends only a few packets a second. It returns to the good mode when the round trip has been low for a while.',
};

const RUDP: Texts = {
  queue:
    'Packages stand in the queue of the bottleneck for longer than the path itself takes. The receiver cannot tell a late one from a lost one and asks for it, and the answers fill the queue further.',
  nothing:
    'The sender keeps its packages for a time, and the receiver asks for what it lacks. Nothing is missing, so it asks for nothing and the overhead is small.',
  loss: 'When a package is missing, the receiver asks for it by its number, and the sender answers from what it keeps. That takes a round trip after the gap was seen, and meanwhile all later packages wait.',
  answer:
    'A package is missing, and the receiver has asked for it; all later ones wait, states too, because there is only one order. When the request or its answer is lost, it has to be asked again.',
  overflow:
    'The queue of the bottleneck drops packages, and requests and answers add to what has to pass. This protocol has no congestion control of its own, so the queue stays full.',
};

const NOTIFY: Texts = {
  queue:
    'Packets stand in the queue of the bottleneck for longer than the path itself takes, and so do the reports of their fate. What was lost is therefore sent again later than it could be.',
  nothing:
    'Each packet is reported to its sender exactly once, as delivered or as lost. All were delivered, so nothing is sent twice.',
  loss: 'The sender learns after a round trip that a packet was lost, and decides for each part of it. Messages are sent again; of a state only the newest value is sent, because the old one is out of date.',
  message:
    'A lost packet held a message, and later messages wait for it. The sender is told of the loss after a round trip and sends it again; states go on meanwhile.',
  ack: 'The history of the packets that are not settled is full, so nothing new can be reported. It continues as soon as the other end has confirmed what it knows.',
  overflow:
    'The queue of the bottleneck drops packets, and each of them is reported as lost a round trip later. What must arrive is then sent again into the same queue.',
};

const TCP: Texts = {
  queue:
    'A byte stream sends faster until the queue of the bottleneck is full, and all that stands in it is late. That harms a game even when nothing is lost, and is called bufferbloat.',
  nothing:
    'States and messages share one stream of bytes, and nothing in it is missing. As long as nothing is lost, it is as fast as the others.',
  loss: 'A segment is sent again after three duplicate acks, or else when the timer runs out. All bytes after it wait, states too, although newer ones have long arrived.',
  byte: 'One lost segment holds up all bytes after it, although they are already there: head-of-line blocking. A game gets nothing for a round trip or more, and then everything at once.',
  timer:
    'Too few acks came back to show the loss, so only the retransmission timer helps, and it takes 200 ms or more. Each further loss of the same segment doubles it, while the game stands still.',
  window:
    'Every loss makes the window smaller, and the game now writes more than the window lets out. What is written waits at the sender and grows old there.',
  overflow:
    'The stream fills the queue of the bottleneck until it drops a segment; that is how TCP finds out how fast the path is. Each drop then holds up all bytes after it.',
};

const NAGLE: Texts = {
  ...TCP,
  nothing:
    'With Nagle’s algorithm, a write that does not fill a segment waits until all that was sent before is acknowledged. That saves headers, and costs up to a round trip although nothing is lost.',
  loss: 'A segment is sent again as in the stream without Nagle’s algorithm, and all bytes after it wait. What the game writes meanwhile waits too, because less than a full segment goes out only when nothing is unacknowledged.',
};

const UNACKED: Texts = {
  nothing:
    'Each packet has all messages that are not acknowledged yet, and so each message is in all packets of a round trip. Nothing is ever late, but the longer the round trip is, the more bytes that costs.',
  loss: 'The packet after a lost one has all that it had, so a message is a tick late and no more. When acks are lost, the packets grow further.',
  message:
    'All packets that held a message were late or lost, so later messages wait for it. It is in every packet until its ack comes.',
  queue:
    'Packets stand in the queue of the bottleneck, and so acks come later and more messages are unacknowledged. That makes the next packets larger, which fills the queue further.',
  overflow:
    'The queue of the bottleneck is full and drops packets, so their messages stay unacknowledged and every packet is as large as it may be. A full packet has no room for new messages, and those wait at the sender.',
};

const THRICE: Texts = {
  nothing:
    'Each message is in three packets, one after the other, and nobody looks at the acks. Nothing is ever late, and all of it costs three times the bytes.',
  loss: 'A lost message is in the next packet too, so it is a tick late and no more. When all three packets are lost it never comes: at ten percent loss that is one message in a thousand, and with losses in a row it is many more.',
  message:
    'Packets with a message were late or lost, so later messages wait for it. If the third one is lost too, it never comes.',
  queue:
    'Packets stand in the queue of the bottleneck for longer than the path itself takes. Two of three bytes in it are copies, which nobody needs unless packets are lost.',
  overflow:
    'The queue of the bottleneck is full and drops packets in a row, which is just what copies in a row do not help against. Fewer copies would lose less.',
};

const TENTH: Texts = {
  nothing:
    'A message that is not acknowledged goes again when it was not sent in the last tenth of a second. Where a round trip takes longer than that, each message is sent several times although nothing is lost.',
  loss: 'A lost message goes again after a tenth of a second, whatever the round trip is. On a short path that is too late, and on a long one it has gone again before anybody could know.',
  message:
    'A lost packet held a message, and later messages wait for it. It goes again a tenth of a second after it was sent, and again until its ack comes.',
  queue:
    'Packets stand in the queue of the bottleneck, and so acks come later than a tenth of a second. All messages are then sent again although none is lost, and that fills the queue further.',
  overflow:
    'The queue of the bottleneck is full and drops packets. What was in them goes again ten times a second, into the same queue.',
};

const WEBSOCKET: Texts = {
  nothing:
    'The same packets as of Causeway go over a WebSocket, which is TCP. As long as nothing is lost on the way, it is about as fast as the others.',
  loss: 'TCP itself loses nothing, so these packets were dropped because too many waited. Their messages are sent again, behind all that still waits.',
  message:
    'A message is missing, and later ones wait for it. TCP brings everything in order, so most of the wait is for what TCP sends again.',
  queue:
    'Packets take longer than they could: they stand in a queue, or wait in TCP behind bytes that were lost and are sent again. Everything after those bytes waits, states too, which is called head-of-line blocking.',
};

const TEXTS: Readonly<Record<string, Texts>> = {
  plain: CAUSEWAY,
  copies: COPIES,
  coded: CODED,
  binary: BINARY,
  rudp: RUDP,
  notify: NOTIFY,
  tcp: TCP,
  nagle: NAGLE,
  unacked: UNACKED,
  thrice: THRICE,
  tenth: TENTH,
  websocket: WEBSOCKET,
};

/** Returns two sentences about a situation of a protocol; none for a protocol that is not listed here. */
export function why(protocol: string, situation: Situation): string {
  const texts = TEXTS[protocol];
  return texts?.[situation] ?? texts?.nothing ?? '';
}
