/**
 * A process that uses an embedded server. It leases the server of the given home, prints the status as one line of JSON,
 * and then obeys the line it reads: `release`, `exit` (without releasing) or `throw`.
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
