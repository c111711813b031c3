import { rerunStates } from '../../domain/runs.ts';
import { oneOf } from '../../platform/suggestions.ts';
import { argument, defineCommand, flag, MissingArgumentError, option } from '../command.ts';
import { statesReader } from '../option-readers.ts';
import { jsonFlag, runArgument, sendingExits } from '../options.ts';

export const command = defineCommand({
  description:
    'Sends the messages of a run again, with new MessageIDs, to its recipients in some states. `volley run <campaign> --of <run>` reads the campaign again instead.',
  arguments: [argument('<run>', runArgument)],
  options: [
    option('--state <state...>', 'recipients in these states; unknown ones may have the message', {
      choices: rerunStates,
      read: statesReader(rerunStates),
    }),
    option('--only <states>', 'recipients in these states', {
      read: statesReader(rerunStates),
      retired: '`--state <states>`',
    }),
    flag('--sandbox', 'as in `volley run`'),
    jsonFlag,
  ],
  exits: sendingExits,
  examples: [
    ['volley rerun latest --state failed', 'send again to those that were not reached'],
    ['volley rerun latest --state failed,unknown', 'send again to those that may have been reached, too'],
  ],
  run: async (shell, [name], { only, state: states = only, sandbox, json = false }) => {
    if (states === undefined)
      throw new MissingArgumentError(`--state <state...> is missing: ${oneOf(rerunStates)}.`);
    const { loadAccount } = await import('../../engine/load-definition.ts');
    const { planRerun } = await import('../../engine/plan/rerun.ts');
    const { requireReachable } = await import('../../engine/runs/require-reachable.ts');
    const { dispatchAndPrint } = await import('../runs/dispatch-and-print.ts');
    const { withRunSurroundings } = await import('../runs/surroundings.ts');
    // A test reached no recipient.
    const named = { name, kind: 'ordinary' } as const;
    await withRunSurroundings(
      shell,
      sandbox,
      named,
      async (around, context, { run: of, account: sender }) => {
        const account = await loadAccount(sender, around.shell.settings);
        await requireReachable(account);
        const run = await planRerun(context, { of, states, account });
        shell.note(`  planned  run ${run}: ${states.join(', ')} of run ${of}`);
        if (states.includes('unknown')) {
          shell.note('  Recipients whose state was unknown may have the message already, and get it again.');
        }
        const how = { run, account, json, includePaused: false, awaitReports: around.awaitReports };
        shell.exitWith(await dispatchAndPrint(around.shell, context, how));
      },
    );
  },
});
