import { approveRun } from '../../engine/plan/approve-run.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { formatReason } from '../../platform/reason-text.ts';
import { chooseRun } from '../choose-run.ts';
import { type Shell, withLedger } from '../shell.ts';

export type ApproveOptions = { readonly reason?: string; readonly json?: true };

export async function approveAction(
  shell: Shell,
  name: string,
  { reason: given, json }: ApproveOptions,
): Promise<void> {
  await withLedger(shell, async (context) => {
    const run = await chooseRun(shell, context, name);
    const { approvedBy: by, approvedAt, ...approval } = await approveRun(context, run, given);
    const { state } = await requireRun(context, run);
    const next =
      state === 'paused'
        ? `It is paused; \`volley resume ${run}\` sends it.`
        : `A run of a schedule or of the API starts by itself. \`volley resume ${run}\` sends any run.`;
    const text = `Run ${run} is approved by ${by}. ${next}`;
    const reason = formatReason(approval.reason);
    shell.print(json ? JSON.stringify({ run, by, approvedAt, reason }) : text);
  });
}
