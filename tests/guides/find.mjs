// find.mjs TOP: a reader finds ten given things in two steps from the README. A row of its table of folders has a word of
// the question and links to a guide; a row of that guide's table has what is asked for and links to a file; and this file
// defines the function that does it. Every link from one file of the repository to another leads somewhere.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [, , top] = process.argv;

// Question | word in the README | folder of the guide | words there | file in the folder | function
const THINGS = `
Where is a fragment sent again? | fragments | core | fragment of a block is sent, and sent again | src/message/block_sender.c | cw_block_sender_due
Who decides that a link is lost? | link is lost | core | a link is lost | src/session/client_policy.c | is_silent
Where is the Origin of a page checked? | Origin | relay | Origin of a page is checked | http/origin.c | origin_allowed
Where is the encryption of a token checked? | tokens | core | encryption and signature are checked | src/netcode/token.c | cw_token_open
Where are acks read? | acks | core | acks are read | src/packet/sent_packets.h | cw_sent_packets_take_acks
Where does the relay pick the game server? | game server | relay | game server of a session is chosen | session/upstreams.c | upstreams_choose
Where is a datagram copied into the memory of the module? | memory | web | datagram is copied into the memory | src/memory.ts | put
What happens at SIGTERM? | SIGTERM | relay | SIGTERM ends the relay | process/shutdown.c | shutdown_signal
Where is the challenge of a new client made? | handshake of a new client | core | challenge is made | src/netcode/server_challenges.c | cw_challenges_write
Which file decides how much may be sent now? | congestion | core | how much may be sent now | src/packet/congestion.c | cw_congestion_limit
`;

const read = (name) => readFileSync(join(top, name), 'utf8');

/** Returns whether a row of a table in the text has these words and a link to this place. */
const hasRow = (text, words, link) =>
  text
    .split('\n')
    .some((line) => line.startsWith('| ') && line.includes(words) && line.includes(`](${link})`));

/** Returns whether the text defines the function, in C or as a method in TypeScript. */
const defines = (text, name) =>
  new RegExp(`^(\\w[\\w *]*[ *]|  )${name}\\([^;]*?\\)[^;]*?\\{$`, 'm').test(
    text.replaceAll('\n{\n', ' {\n'),
  );

/** Returns what stops a reader, or nothing. */
function obstacle([word, folder, words, file, name]) {
  const guide = `${folder}/README.md`;
  if (!hasRow(read('README.md'), word, `${guide}#where-is-what`))
    return `README.md has no row with "${word}" and a link to ${guide}`;
  const [, section = ''] = read(guide).split('\n## Where is what\n');
  if (!hasRow(section.split('\n## ')[0], words, file))
    return `${guide} has no row with "${words}" and a link to ${file}`;
  const path = join(folder, file);
  if (!existsSync(join(top, path)) || !defines(read(path), name))
    return `${path} does not define ${name}`;
}

const guides = [
  '',
  'core',
  'core/lab',
  'core/protocols',
  'relay',
  'tests',
  'wasm',
  'web',
  '.github',
]
  .flatMap((folder) => readdirSync(join(top, folder)).map((name) => join(folder, name)))
  .filter((name) => name.endsWith('.md'));

/** Returns the names by which a guide's headings are linked to. */
const anchors = (text) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );

/** Returns the links of a guide that lead nowhere. */
const deadLinks = (guide) =>
  [...read(guide).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)]
    .filter(([, file, anchor]) => {
      const path = join(top, file ? join(dirname(guide), file) : guide);
      if (!existsSync(path)) return true;
      return (
        anchor && statSync(path).isFile() && !anchors(readFileSync(path, 'utf8')).includes(anchor)
      );
    })
    .map(([link]) => `${guide} links to ${link.slice(1)}, which is not there`);

const things = THINGS.trim()
  .split('\n')
  .map((line) => line.split(' | '));
const problems = guides.flatMap(deadLinks);
for (const [question, ...thing] of things) {
  const why = obstacle(thing);
  if (why) problems.push(`${question} ${why}`);
}
for (const problem of problems) console.error(problem);
console.log(`${things.length} things are looked for, in ${guides.length} guides`);
process.exitCode = problems.length > 0 ? 1 : 0;
