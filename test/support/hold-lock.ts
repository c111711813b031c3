/**
 * A process that takes the lock of an embedded server again and again, and notes in a journal when it has it (`+`) and before it
 * gives it back (`-`), with its number. Without a journal it takes the lock once, prints `held` and keeps it.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { addLease, dropLease, giveBackLock, takeLock } from '../../src/platform/server-lease.ts';
import { inSteps } from '../../src/platform/steps.ts';

const [leases = '', journal] = process.argv.slice(2);
for (let turn = 0; turn < 30; turn++) {
  const own = addLease(leases);
  await inSteps(takeLock(leases, own));
  if (journal === undefined) {
    console.log('held');
    await sleep(60_000);
  } else {
    appendFileSync(journal, `+${process.pid}\n`);
    await sleep(turn % 4);
    appendFileSync(journal, `-${process.pid}\n`);
  }
  giveBackLock(leases, own);
  dropLease(leases, own);
}
