import { runActionWords } from '../../report/run-action-words.ts';
import { argument, defineCommand, option } from '../command.ts';
import { jsonFlag, neededReasonOption, runArgument } from '../options.ts';
import { withLedger } from '../shell.ts';

export const command = defineCommand({
  description: `Sends the rest of a run by hand, while its canary is observed or after that paused the run. ${runActionWords.promote.what}`,
  arguments: [argument('<run>', runArgument)],
  options: [
    neededReasonOption,
    option('--variant <name>', 'the variant that the rest of a run with `until: winner` gets'),
    jsonFlag,
  ],
  examples: [['volley promote latest --reason "the carrier is back"', 'send the rest of the newest run']],
  run: async (shell, [name], { reason, variant, json }) => {
    const { promoteRun, promoteVariant } = await import('../../engine/runs/promote-run.ts');
    const { requireStatus } = await import('../../engine/reporting/run-status.ts');
    const { chooseRun } = await import('../runs/choose-run.ts');
    const { accountLoader } = await import('../runs/surroundings.ts');
    await withLedger(shell, async (context) => {
      const run = await chooseRun(shell, context, name);
      if (variant === undefined) await promoteRun(context, run, accountLoader(shell), reason);
      else await promoteVariant(context, run, variant, reason);
      const text =
        variant === undefined
          ? `Run ${run} is promoted. Workers send the rest; if none runs, \`volley resume ${run}\` does.`
          : `The rest of run ${run} gets variant ${variant}. \`volley serve\` or a worker starts its run.`;
      shell.print(json ? JSON.stringify(await requireStatus(context, run)) : text);
    });
  },
});
