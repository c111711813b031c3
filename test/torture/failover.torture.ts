import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { type FailoverFigures, failOver, type SenderEnd } from '../support/failover.ts';
import { findPostgresPrograms } from '../support/postgres-programs.ts';
import {
  makeReplicatedOrigin,
  type ReplicatedOrigin,
  type Replication,
} from '../support/replicated-postgres.ts';

/** VOLLEY_TORTURE_SEED repeats an earlier torture. */
const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const failovers = Number(process.env['VOLLEY_TORTURE_FAILOVERS'] ?? 12);
const senders: readonly SenderEnd[] = ['killed', 'goes on', 'interrupted'];

let origin: ReplicatedOrigin;
beforeAll(async () => {
  origin = await makeReplicatedOrigin(findPostgresPrograms());
});
afterAll(() => origin?.[Symbol.dispose]());

async function torture(replication: Replication): Promise<readonly FailoverFigures[]> {
  const all: FailoverFigures[] = [];
  for (let index = 0; index < failovers; index++) {
    const random = (what: string, below: number) =>
      Math.floor(seededRandom(seed, replication, what, index) * below);
    const sender = senders[index % senders.length] ?? 'killed';
    const stalled = random('is stalled', 4) === 0 ? 0 : random('stalled', 150);
    await using postgres = await origin.startPair(replication);
    const figures = await failOver(postgres, { after: 20 + random('after', 500), stalled, sender });
    all.push(figures);
    // Vitest would hold back the log.
    process.stdout.write(
      `  ${replication}, stalled for ${stalled} ms, the sender ${sender}: ${JSON.stringify(figures)}\n`,
    );
  }
  const sum = (count: (figures: FailoverFigures) => number) =>
    all.reduce((total, figures) => total + count(figures), 0);
  const lines: [string, number | string][] = [
    ['seed', seed],
    ['failovers', all.length],
    ['with requests that the ledger had forgotten', sum(({ missingClaims }) => Math.min(missingClaims, 1))],
    ['requests that it had forgotten', sum(({ missingClaims }) => missingClaims)],
    ['nothing was missing, said an operator', sum(({ nothingMissing }) => Number(nothingMissing))],
    ['in doubt in the end', sum(({ inDoubt }) => inDoubt)],
    ['accepted', sum(({ accepted }) => accepted)],
  ];
  console.log([replication, ...lines.map(([what, value]) => `${what.padEnd(46)} ${value}`)].join('\n'));
  return all;
}

test('a failover to a synchronous standby loses no request and sends none twice', async () => {
  for (const figures of await torture('synchronous'))
    expect(figures).toMatchObject({ missingClaims: 0, nothingMissing: true, found: false });
});

test('requests lost in a failover to an asynchronous standby are noticed and not sent again', async () => {
  const all = await torture('asynchronous');
  const lossy = all.filter(({ missingClaims }) => missingClaims > 0);
  expect(lossy.length).toBeGreaterThan(0);
  for (const figures of lossy) expect(figures).toMatchObject({ nothingMissing: false, found: true });
});
