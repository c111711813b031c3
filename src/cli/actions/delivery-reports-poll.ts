import type { PollEnd } from '../../engine/delivery-reports/poll.ts';
import { pollRun } from '../../engine/delivery-reports/poll-run.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { formatPoll } from '../../report/delivery-reports.ts';
import { printable } from '../../report/printable.ts';
import { chooseRun } from '../choose-run.ts';
import { type Shell, withLedger } from '../shell.ts';

export async function pollAction(shell: Shell, name: string, { json }: { json?: true }): Promise<void> {
  let run = name;
  const end = await withLedger(shell, async (context) => {
    run = await chooseRun(shell, context, name);
    const { account } = await requireRun(context, run);
    shell.drainOnStop(() => 'Volley waits for one more answer of the service.');
    const polled = { run, account };
    return await pollRun(context, shell.settings, polled, {
      stop: shell.stop,
      onUnclear: (messageId, { reason }) => shell.note(`${messageId}: ${printable(reason)}`),
    });
  });
  const { kind: _, ...result } = { run, ...end };
  shell.print(json ? JSON.stringify(result) : formatPoll(end));
  if (end.kind === 'refused')
    shell.note(`The service refused the credential: ${end.words.map(printable).join('; ')}`);
  shell.exitWith(exitCodeOf(end));
}

function exitCodeOf(end: PollEnd) {
  if (end.kind === 'refused') return 4;
  if (end.kind === 'stopped') return 130;
  return end.unclear > 0 ? 3 : 0;
}
