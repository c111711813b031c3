import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { startVolley } from '../../support/volley.ts';
import { token } from './workload.ts';

/** A folder with a campaign and its accounts, for the real command line. */
export type BenchWorkspace = { readonly folder: string; readonly databaseUrl: string };

const planned = z.object({ run: z.string() });

/** @returns the id of a run that has not begun */
export async function planRun(campaign: string, { folder, databaseUrl }: BenchWorkspace): Promise<string> {
  const script = fileURLToPath(new URL('../plan-once.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, 'ledger', campaign, databaseUrl], {
    cwd: folder,
    env: environmentFor({ folder, databaseUrl }),
  });
  return planned.parse(JSON.parse(stdout)).run;
}

export function startResume(run: string, workspace: BenchWorkspace, nodeFlags: readonly string[] = []) {
  return startVolley(['resume', run, '--json'], {
    cwd: workspace.folder,
    env: environmentFor(workspace),
    nodeFlags,
  });
}

export function environmentFor({ databaseUrl }: BenchWorkspace): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, DATABASE_URL: databaseUrl, VOLLEY_ACCOUNTS: 'accounts.yaml', BENCH_TOKEN: token };
}
