import type { EngineContext } from '../engine/context.ts';
import type { LookUpEnd } from '../engine/dispatch/look-up-doubts.ts';
import { createRateLimiter } from '../engine/dispatch/rate-limiter.ts';
import { loadAccount } from '../engine/load-account.ts';
import { requireRun } from '../engine/runs/find-run.ts';
import type { NamedRequests } from '../engine/runs/resolve-doubts.ts';
import { lookUpDoubts } from '../engine/runs/resolve-doubts.ts';
import { openGateway } from '../gateway/gateway.ts';
import { formatLookUp } from '../report/doubts.ts';
import { printable } from '../report/printable.ts';
import type { Shell } from './shell.ts';

export async function lookUp(
  shell: Shell,
  context: EngineContext,
  requests: NamedRequests,
  { json }: { readonly json?: true },
): Promise<void> {
  const { account: name } = await requireRun(context, requests.run);
  const account = await loadAccount(name, shell.settings);
  const gateway = openGateway(account);
  shell.drainOnStop(() => 'Volley waits for one more answer of the service.');
  try {
    const service = { account, gateway, rate: createRateLimiter(context, account) };
    const end = await lookUpDoubts(context, service, requests, shell.stop, (doubt, answer) => {
      if (answer.kind === 'unclear') shell.note(`request ${doubt.request}: ${printable(answer.reason)}`);
    });
    const { kind: _, ...result } = { run: requests.run, ...end };
    shell.print(json ? JSON.stringify(result) : formatLookUp(end));
    if (end.kind === 'refused') {
      const words = end.words.map(printable).join('; ');
      shell.note(`The service refused the credential of account "${name}": ${words}`);
    }
    shell.exitWith(exitCodeOf(end));
  } finally {
    await gateway.close();
  }
}

function exitCodeOf(end: LookUpEnd) {
  if (end.kind === 'refused') return 4;
  if (end.kind === 'stopped') return 130;
  return end.notFound + end.unclear > 0 ? 3 : 0;
}
