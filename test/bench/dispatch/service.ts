import { createServer } from 'node:http';

/**
 * The service for all peers, in a process of its own. It accepts every request and reports its address and counts to
 * its parent. `begin` resets the counts.
 */

let requests = 0;
let bodyBytes = 0;
let firstAt: number | null = null;
let cpuBefore = process.cpuUsage();

const server = createServer((request, response) => {
  firstAt ??= Date.now();
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const [first] = pieces;
    const body = first && pieces.length === 1 ? first : Buffer.concat(pieces);
    requests++;
    bodyBytes += body.byteLength;
    const answer = `{"Result":"Success","MessageID":"${messageIdIn(body)}"}`;
    response.writeHead(200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(answer),
    });
    response.end(answer);
  });
});

const beforeMessageId = '"MessageID":"';

function messageIdIn(body: Buffer): string {
  const begin = body.indexOf(beforeMessageId) + beforeMessageId.length;
  return body.toString('latin1', begin, body.indexOf('"', begin));
}

process.on('message', (asked) => {
  if (asked === 'begin') {
    requests = 0;
    bodyBytes = 0;
    firstAt = null;
    cpuBefore = process.cpuUsage();
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  process.send?.({ requests, bodyBytes, firstAt, cpuSeconds: (user + system) / 1e6 });
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
