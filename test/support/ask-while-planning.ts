import { setTimeout as sleep } from 'node:timers/promises';
import { createToken } from '../../src/engine/access/tokens.ts';
import { freePort } from './free-port.ts';
import { openTestLedger } from './ledger.ts';
import { startVolley } from './volley.ts';
import { accountsYaml, contactsCsv, makeWorkspace, smsCampaignYaml } from './workspace.ts';

export type PlanningAnswers = {
  readonly status: number;
  /** Milliseconds of planning, and of each `healthz` answer meanwhile. */
  readonly planning: number;
  readonly health: readonly number[];
  /** The same before planning, as a baseline of the machine. */
  readonly idle: readonly number[];
};

export const heavyCampaign = (keys: number): string =>
  smsCampaignYaml + Array.from({ length: keys }, (_, index) => `k${index}: 1\n`).join('');

/**
 * Starts a campaign over the API of `serve`, and calls `healthz` until the start is answered.
 *
 * @param idleAnswers calls of `healthz` before that
 */
export async function askWhilePlanning(
  campaign: string,
  files: Readonly<Record<string, string>>,
  idleAnswers = 0,
): Promise<PlanningAnswers> {
  await using cleanUp = new AsyncDisposableStack();
  const ledger = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const workspace = cleanUp.use(
    await makeWorkspace({
      'campaigns/accounts.yaml': accountsYaml,
      'campaigns/contacts.csv': contactsCsv(4),
      ...files,
    }),
  );
  const [port, apiPort] = [await freePort(), await freePort()];
  const server = startVolley(
    ['serve', '--no-receiver', '--no-worker', '--port', String(port), '--api-port', String(apiPort)],
    {
      cwd: workspace.folder,
      env: {
        DATABASE_URL: ledger.url,
        VOLLEY_ACCOUNTS: 'campaigns/accounts.yaml',
        VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
        VOLLEY_SANDBOX_TOKEN: 'any',
      },
    },
  );
  cleanUp.defer(async () => {
    server.process.kill('SIGTERM');
    await server.ended;
  });
  await server.waitForText('API: ');
  const token = await createToken(ledger.context, {
    name: 'starter',
    scope: 'run',
    owner: 'ann',
    accounts: null,
    expiresAt: null,
  });
  const start = async (name: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${apiPort}/api/v1/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': `start-of-${name}`,
      },
      body: JSON.stringify({ campaign: name }),
    });
  // Loads what is loaded on first use.
  await start('no-such.yaml');
  const askHealth = async (): Promise<number> => {
    const asked = performance.now();
    await (await fetch(`http://127.0.0.1:${port}/healthz`)).text();
    const milliseconds = performance.now() - asked;
    await sleep(5);
    return milliseconds;
  };
  const idle: number[] = [];
  for (let count = 0; count < idleAnswers; count++) idle.push(await askHealth());
  const health: number[] = [];
  let status: number | undefined;
  const begun = performance.now();
  const planning = start(campaign).then((answer) => {
    status = answer.status;
    return performance.now() - begun;
  });
  while (status === undefined) {
    health.push(await askHealth());
  }
  return { status, planning: await planning, health, idle };
}
