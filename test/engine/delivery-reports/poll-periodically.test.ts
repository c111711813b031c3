import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { applyInbox } from '../../../src/engine/delivery-reports/apply-inbox.ts';
import { defaultPolling, pollPeriodically } from '../../../src/engine/delivery-reports/poll-periodically.ts';
import { openLogger } from '../../../src/platform/logger.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { anAccount } from '../../support/account.ts';
import { aContact, aRun, openTestLedger, planContacts } from '../../support/ledger.ts';
import { executeIn } from '../../support/outage-runs.ts';

const logger = openLogger('silent', 'info');

/** A run of three recipients, which the sandbox has accepted and will not report by itself. */
async function acceptedRun(cleanUp: AsyncDisposableStack) {
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const sandbox = cleanUp.adopt(await startSandbox({}), (it) => it.close());
  const account = anAccount({ baseUrl: sandbox.url, statusLookUp: true });
  const contacts = [2, 3, 4].map((line) => aContact(line));
  const run = await planContacts(opened.ledger, aRun({ account: account.name, chunkSize: 10 }), contacts);
  await executeIn(opened.ledger, run, sandbox, { account: { statusLookUp: true } });
  const outcomes = async () =>
    (await opened.ledger.pool.query('SELECT outcome FROM recipient_outcomes')).rows.length;
  return { context: opened.context, account, outcomes };
}

test('serve asks for missing delivery reports and applies the answers', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const { context, account, outcomes } = await acceptedRun(cleanUp);
  const stop = new AbortController();
  const polling = { every: 10, acceptedFor: 0, acceptedWithin: 60_000 };
  let applying: Promise<unknown> = Promise.resolve();
  const apply = (): void => {
    applying = applying.then(() => applyInbox(context));
  };
  const kept = pollPeriodically(context, [account], {
    ...polling,
    onReports: apply,
    logger,
    stop: stop.signal,
  });
  while ((await outcomes()) < 3) await sleep(10);
  stop.abort();
  await kept;
  await applying;
});

test('serve does not ask in the first minutes, nor after six hours', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const { context, account } = await acceptedRun(cleanUp);
  const asked = async () => (await context.ledger.pool.query('SELECT FROM polls')).rows.length;
  const hours = 3_600_000;
  for (const [later, times] of [
    [0, 0],
    [6.1 * hours, 0],
    [5.9 * hours, 1],
  ] as const) {
    const stop = new AbortController();
    const then = { ...context, now: () => new Date(Date.now() + later) };
    const kept = pollPeriodically(then, [account], {
      ...defaultPolling,
      every: 10,
      onReports: () => {},
      logger,
      stop: stop.signal,
    });
    await sleep(300);
    stop.abort();
    await kept;
    expect(await asked()).toBe(times);
  }
});
