import { setTimeout as sleep } from 'node:timers/promises';
import { applyInbox } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { openLedger } from '../../src/ledger/connection.ts';
import { foldAll } from '../support/fold-outcomes.ts';
import { contextOf } from '../support/ledger.ts';

/** Appliers, and one that folds, in a process that the test kills. */
const [url = '', appliers = '1'] = process.argv.slice(2);
const context = contextOf(await openLedger({ connectionString: url }, 'test database'));
console.log('applying');
async function foldAgainAndAgain(): Promise<never> {
  for (;;) {
    await foldAll(context.ledger.pool);
    await sleep(20);
  }
}

void foldAgainAndAgain();
await Promise.all(
  Array.from({ length: Number(appliers) }, async () => {
    for (;;) {
      // Postgres releases a killed process's locks a moment later.
      await applyInbox(context);
      await sleep(20);
    }
  }),
);
