import { createToken } from '../../../src/engine/access/tokens.ts';
import { openLedger } from '../../../src/ledger/connection.ts';
import { signIn, type Visitor } from '../../support/dashboard-scene.ts';
import { contextOf } from '../../support/ledger.ts';
import { startVolley } from '../../support/volley.ts';
import type { Bench } from '../dispatch/rounds.ts';
import { environmentFor } from '../dispatch/volley.ts';

export type Serve = {
  readonly url: string;
  readonly pid: number;
  readonly visitor: Visitor;
  readonly stop: () => Promise<void>;
};

let tokens = 0;

/** `volley serve`, without receiver and schedules. It sends planned runs at once. Beside it, a person who has signed in. */
export async function startServe({ workspace }: Pick<Bench, 'workspace'>): Promise<Serve> {
  const words = [
    'serve',
    '--no-receiver',
    '--no-schedules',
    '--port',
    '0',
    '--api-port',
    '0',
    '--campaigns',
    '.',
  ];
  const started = startVolley(words, { cwd: workspace.folder, env: environmentFor(workspace) });
  await started.waitForText('Dashboard: ');
  const url = /^Dashboard: (\S+)\/$/m.exec(started.stderrSoFar())?.[1] ?? '';
  const token = await makeToken(workspace.databaseUrl);
  return {
    url,
    pid: started.process.pid ?? Number.NaN,
    visitor: await signIn(url, token),
    stop: async () => {
      started.process.kill('SIGINT');
      await started.ended;
    },
  };
}

async function makeToken(connectionString: string): Promise<string> {
  const ledger = await openLedger({ connectionString }, 'bench');
  try {
    const asked = { owner: 'bench', scope: 'admin', accounts: null, expiresAt: null } as const;
    return await createToken(contextOf(ledger), { name: `bench ${Date.now()} ${++tokens}`, ...asked });
  } finally {
    await ledger.close();
  }
}
