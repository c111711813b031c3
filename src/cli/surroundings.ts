import type { RunSummary } from '../domain/runs.ts';
import type { EngineContext } from '../engine/context.ts';
import type { Run } from '../ledger/runs/find.ts';
import type { NamedAccount } from './own-sandbox.ts';
import { type Shell, withLedger } from './shell.ts';

/** What a command sends a run with: the accounts of the project, or a sandbox of its own. */
export type Surroundings = {
  readonly shell: Shell;
  readonly open: (work: (context: EngineContext) => Promise<void>) => Promise<void>;
  /** Only in a sandbox. */
  readonly awaitReports?: (run: string) => Promise<RunSummary>;
};

export function accountOfRun({ run, account }: Pick<Run, 'run' | 'account'>): NamedAccount {
  return { name: account, where: `run ${run}` };
}

/**
 * @param findAccounts those that must be in the sandbox; the first is that of the run
 * @throws InputError if one is of another service
 */
export async function withSurroundings(
  shell: Shell,
  sandbox: boolean | undefined,
  findAccounts: (context: EngineContext) => Promise<readonly [NamedAccount, ...NamedAccount[]]>,
  send: (surroundings: Surroundings) => Promise<void>,
): Promise<void> {
  if (!sandbox) return send({ shell, open: (work) => withLedger(shell, work) });
  // Most commands load no sandbox.
  const { withOwnSandbox } = await import('./own-sandbox.ts');
  await withOwnSandbox(shell, findAccounts, ({ context, ...own }) =>
    send({ ...own, open: (work) => work(context) }),
  );
}
