import type { EngineContext } from '../engine/context.ts';
import type { LookUpEnd } from '../engine/dispatch/look-up-doubts.ts';
import { askAboutDoubts } from '../engine/runs/ask-about-doubts.ts';
import type { NamedRequests } from '../engine/runs/resolve-doubts.ts';
import { formatLookUp } from '../report/doubts.ts';
import { printable } from '../report/printable.ts';
import type { Shell } from './shell.ts';

export async function lookUp(
  shell: Shell,
  context: EngineContext,
  requests: NamedRequests,
  { json }: { readonly json?: true },
): Promise<void> {
  shell.drainOnStop(() => 'Volley waits for one more answer of the service.');
  const asked = askAboutDoubts(context, shell.settings, requests, {
    stop: shell.stop,
    onAnswer: (doubt, answer) => {
      if (answer.kind === 'unclear') shell.note(`request ${doubt.request}: ${printable(answer.reason)}`);
    },
  });
  const { end, account } = await asked;
  const { kind: _, ...result } = { run: requests.run, ...end };
  shell.print(json ? JSON.stringify(result) : formatLookUp(end));
  if (end.kind === 'refused') {
    const words = end.words.map(printable).join('; ');
    shell.note(`The service refused the credential of account "${account}": ${words}`);
  }
  shell.exitWith(exitCodeOf(end));
}

function exitCodeOf(end: LookUpEnd) {
  if (end.kind === 'refused') return 4;
  if (end.kind === 'stopped') return 130;
  return end.notFound + end.unclear > 0 ? 3 : 0;
}
