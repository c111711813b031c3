import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createToken } from '../../src/engine/access/tokens.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { freePort } from '../support/free-port.ts';
import { openTestLedger } from '../support/ledger.ts';
import { type Started, startVolley } from '../support/volley.ts';
import { accountsYaml, contactsCsv, makeWorkspace, smsCampaignYaml } from '../support/workspace.ts';

const kills = Number(process.env['VOLLEY_TORTURE_KILLS'] ?? 100);

test(`each of ${kills} killed starts over the API is one run after the call is repeated`, async () => {
  const { answered, runs, lost } = await killStarts(kills, `long-${kills}`);
  console.log(JSON.stringify({ starts: kills, lost, runs: runs.length }));
  expect(runs.map(({ run }) => run)).toEqual(answered);
  expect(new Set(runs.map(({ state }) => state))).toEqual(new Set(['running']));
  // Some starts were not finished when killed.
  expect(lost).toBeGreaterThan(kills / 10);
});
type KilledStarts = {
  /** The final run of each key. */
  readonly answered: readonly string[];
  readonly runs: readonly { readonly run: string; readonly state: string }[];
  /** Calls without an answer. */
  readonly lost: number;
};

const started = z.object({ run: z.string() });

/**
 * Starts a run over the API for each key, while the server is killed at random. Repeats a call without an
 * answer, as the documentation says.
 */
async function killStarts(keys: number, seed: string): Promise<KilledStarts> {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const workspace = cleanUp.use(
    await makeWorkspace({
      'campaigns/accounts.yaml': accountsYaml,
      'campaigns/contacts.csv': contactsCsv(2_000),
      'campaigns/payroll.yaml': smsCampaignYaml,
    }),
  );
  const tokenRequest = { name: 'desk', scope: 'run', owner: 'ann', accounts: null, expiresAt: null } as const;
  const token = await createToken(opened.context, tokenRequest);
  const env = {
    DATABASE_URL: opened.url,
    VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
    VOLLEY_SANDBOX_TOKEN: 'any',
  };
  const port = await freePort();
  const serve = async (): Promise<Started> => {
    const words = ['serve', '--no-receiver', '--no-worker', '--no-schedules', '--api-port', String(port)];
    const server = startVolley([...words, '--metrics-port', '0'], { cwd: workspace.folder, env });
    cleanUp.defer(() => void server.process.kill('SIGKILL'));
    await server.waitForText('API: ');
    return server;
  };
  const call = (key: string) =>
    fetch(`http://127.0.0.1:${port}/api/v1/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: '{"campaign":"payroll.yaml"}',
    });

  let lost = 0;
  let server = await serve();
  const answered: string[] = [];
  for (let key = 0; key < keys; key++) {
    const killed = call(`key-${key}`).then(
      (answer) => answer.text(),
      () => {
        lost++;
      },
    );
    await sleep(seededRandom('kill', seed, key) * 500);
    server.process.kill('SIGKILL');
    await killed;
    await server.ended;
    server = await serve();
    answered.push(started.parse(await (await call(`key-${key}`)).json()).run);
  }
  const { rows } = await opened.ledger.pool.query<{ run: string; state: string }>(
    'SELECT run_id AS run, state FROM runs ORDER BY created_at, run_id',
  );
  return { answered, runs: rows, lost };
}
