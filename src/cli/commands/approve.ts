import { runActionWords } from '../../report/run-action-words.ts';
import { argument, defineCommand } from '../command.ts';
import { jsonFlag, reasonOption, runArgument } from '../options.ts';
import { withLedger } from '../shell.ts';

export const command = defineCommand({
  description: `Approves a run of a campaign with \`approval\`, as the user of the operating system: another person than the planner. ${runActionWords.approve.what}`,
  arguments: [argument('<run>', runArgument)],
  options: [reasonOption, jsonFlag],
  examples: [['volley approve latest', 'approve the newest run']],
  run: async (shell, [name], { reason: given, json }) => {
    const { approveRun } = await import('../../engine/plan/approve-run.ts');
    const { requireRun } = await import('../../engine/runs/find-run.ts');
    const { formatReason } = await import('../../domain/reasons.ts');
    const { chooseRun } = await import('../runs/choose-run.ts');
    await withLedger(shell, async (context) => {
      const run = await chooseRun(shell, context, name);
      const { approvedBy: by, approvedAt, ...approval } = await approveRun(context, run, given);
      const { state } = await requireRun(context, run);
      const next =
        state === 'paused'
          ? `It is paused; \`volley resume ${run}\` sends it.`
          : `If it does not start by itself, \`volley resume ${run}\` sends it.`;
      const text = `Run ${run} is approved by ${by}. ${next}`;
      const reason = formatReason(approval.reason);
      shell.print(json ? JSON.stringify({ run, by, approvedAt, reason }) : text);
    });
  },
});
