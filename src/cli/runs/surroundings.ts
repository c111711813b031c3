import type { RunSummary } from '../../domain/runs.ts';
import type { EngineContext } from '../../engine/context.ts';
import { loadAccount } from '../../engine/load-definition.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import type { Account } from '../../gateway/account.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { type Shell, withLedger } from '../shell.ts';
import { chooseRun } from './choose-run.ts';
import type { NamedAccount } from './own-sandbox.ts';

/** What a command sends a run with: the accounts of the project, or a sandbox of its own. */
export type Surroundings = {
  readonly shell: Shell;
  readonly open: (work: (context: EngineContext) => Promise<void>) => Promise<void>;
  /** Only in a sandbox. */
  readonly awaitReports?: (run: string) => Promise<RunSummary>;
};

/**
 * Opens what a command sends with.
 *
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

/** Does the same for a run that exists. @param name as the user wrote it */
export async function withRunSurroundings(
  shell: Shell,
  sandbox: boolean | undefined,
  { name, ...filter }: { readonly name: string; readonly kind?: 'ordinary' },
  send: (surroundings: Surroundings, context: EngineContext, run: Run) => Promise<void>,
): Promise<void> {
  let found: Promise<Run> | undefined;
  const find = (context: EngineContext): Promise<Run> =>
    (found ??= chooseRun(shell, context, name, filter).then((run) => requireRun(context, run)));
  const findAccounts = async (context: EngineContext) => {
    const { run, account } = await find(context);
    return [{ name: account, where: `run ${run}` }] as const;
  };
  await withSurroundings(shell, sandbox, findAccounts, (around) =>
    around.open(async (context) => send(around, context, await find(context))),
  );
}

/** Loads any account, because a process also sends slices of other runs. */
export function accountLoader(shell: Shell, known?: Account): (name: string) => Promise<Account> {
  return async (name) => (name === known?.name ? known : loadAccount(name, shell.settings));
}
