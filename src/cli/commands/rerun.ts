import { type RerunState, rerunStates } from '../../domain/runs.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { runArgument, sendingExits, statesReader } from '../options.ts';
import type { Surroundings } from '../surroundings.ts';

export const command = defineCommand({
  description:
    'Makes a new run for the recipients of a run in some states, from the ledger, and sends it: the same messages with new MessageIDs. `volley run <campaign> --of <run>` reads the campaign again instead.',
  arguments: [argument('<run>', runArgument)],
  options: [
    option(
      '--only <states>',
      `recipients in these states, separated by commas: ${rerunStates.join(', ')}. Those in the state unknown may have the message already`,
      { read: statesReader(rerunStates), required: true },
    ),
    flag('--sandbox', 'send to a sandbox, as `volley run --sandbox` does'),
    flag('--json', "print the run's summary as JSON"),
  ],
  exits: sendingExits,
  examples: [
    ['volley rerun latest --only failed', 'send again to recipients that were provably not reached'],
    ['volley rerun latest --only failed,unknown', 'send again to those that may have been reached, too'],
  ],
  run: async (shell, [name], { only, sandbox, json = false }) => {
    const { requireRun } = await import('../../engine/runs/find-run.ts');
    const { chooseRun } = await import('../choose-run.ts');
    const { accountOfRun, withSurroundings } = await import('../surroundings.ts');
    let found: Promise<Run> | undefined;
    // A test reached no recipient.
    const findSource = (context: EngineContext): Promise<Run> =>
      (found ??= chooseRun(shell, context, name, { kind: 'ordinary' }).then((run) =>
        requireRun(context, run),
      ));
    const findAccounts = async (context: EngineContext) => [accountOfRun(await findSource(context))] as const;
    await withSurroundings(shell, sandbox, findAccounts, (around) =>
      around.open(async (context) => sendAgain(around, context, await findSource(context), { only, json })),
    );
  },
});

async function sendAgain(
  { shell, open: _, ...awaiting }: Surroundings,
  context: EngineContext,
  { run: source, account: name }: Run,
  { only, json }: { readonly only: readonly RerunState[]; readonly json: boolean },
): Promise<void> {
  const { loadAccount } = await import('../../engine/load-definition.ts');
  const { planRerun } = await import('../../engine/plan/rerun.ts');
  const { requireReachable } = await import('../../engine/runs/require-reachable.ts');
  const { dispatchAndPrint } = await import('../dispatch-and-print.ts');
  const account = await loadAccount(name, shell.settings);
  await requireReachable(account);
  const run = await planRerun(context, { of: source, states: only, account });
  shell.note(`  planned  run ${run}: ${only.join(', ')} of run ${source}`);
  if (only.includes('unknown')) {
    shell.note('  Recipients whose state was unknown may have the message already, and get it again.');
  }
  shell.exitWith(
    await dispatchAndPrint(shell, context, { run, account, json, includePaused: false, ...awaiting }),
  );
}
