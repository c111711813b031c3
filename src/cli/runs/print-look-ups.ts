import type { PollEnd } from '../../engine/delivery-reports/poll.ts';
import type { LookUpEnd } from '../../engine/dispatch/look-up-doubts.ts';
import { formatLookUp, formatLookUpEnd, formatPoll } from '../../report/look-up-words.ts';
import { printable } from '../../report/printable.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Shell } from '../shell.ts';

/** Asks the service, until Ctrl-C, and prints what it answered about requests of a run. */
export async function printLookUps(
  shell: Shell,
  { run, json }: { readonly run: string; readonly json: true | undefined },
  ask: () => Promise<LookUpEnd | PollEnd>,
): Promise<void> {
  shell.drainOnStop(() => 'Volley waits for one more answer of the service.');
  const end = await ask();
  const { kind, ...result } = end;
  const words = end.kind === 'refused' ? end.words.map(printable).join('; ') : undefined;
  const found = 'asked' in end ? formatPoll(end) : formatLookUp(end);
  shell.print(json ? JSON.stringify({ run, ...result }) : formatLookUpEnd(kind, words, found));
  shell.exitWith(exitCodeOf(end));
}

function exitCodeOf(end: LookUpEnd | PollEnd): ExitCode {
  if (end.kind === 'refused') return 4;
  if (end.kind === 'stopped') return 130;
  const notFound = 'notFound' in end ? end.notFound : 0;
  return notFound + end.unclear > 0 ? 3 : 0;
}
