/**
 * A process that acquires a lease on the given home, prints the status as one line of JSON, and obeys a word on
 * standard input: `release`, `exit` (without releasing) or `throw`.
 */
import { createInterface } from 'node:readline';
import { embeddedServerStatus, leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';

const [home = '', systemFolder] = process.argv.slice(2);
const lease = await leaseEmbeddedServer(home, systemFolder === undefined ? {} : { systemFolder });
console.log(JSON.stringify({ ...embeddedServerStatus(home), address: lease.address }));

for await (const word of createInterface(process.stdin)) {
  if (word === 'exit') process.exit(0);
  if (word === 'throw') throw new Error('on purpose');
  await lease.release();
  break;
}
