import { createOutageRetry } from '../../src/engine/dispatch/outage-retry.ts';
import { runWorker } from '../../src/engine/dispatch/worker.ts';
import { loadAccount } from '../../src/engine/load-definition.ts';
import { watchSchedules } from '../../src/engine/schedule/watch-schedules.ts';
import { openLedger } from '../../src/ledger/connection.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { contextOf } from '../support/ledger.ts';

/** A worker process to be killed, with a faster clock for schedules: an hour takes `hour` milliseconds. */
const [url = '', hour = '500', begin = '', startedAt = ''] = process.argv.slice(2);
const ledger = await openLedger({ connectionString: url }, 'test database');
const context = contextOf(ledger);
const fast = (): Date =>
  new Date(new Date(begin).getTime() + ((Date.now() - Number(startedAt)) / Number(hour)) * 3_600_000);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const settings = { environment: process.env, workingFolder: process.cwd() };
const accountNamed = (name: string) => loadAccount(name, settings);
const never = new AbortController().signal;
const outage = { onDown: () => undefined, onUp: () => undefined };
const campaignSource = { folder: 'campaigns', settings, accountNamed };
await Promise.all([
  watchSchedules({ ...context, now: fast }, campaignSource, {
    every: 50,
    logger: openLogger('error', 'warn'),
    stop: stop.signal,
  }),
  runWorker(context, {
    accountNamed,
    stop: stop.signal,
    cutOff: never,
    outageRetry: createOutageRetry(outage, ledger, never),
  }),
]);
await ledger.close();
