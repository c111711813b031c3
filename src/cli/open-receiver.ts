import { noSharing } from '../domain/account-sharing.ts';
import type { EngineContext } from '../engine/context.ts';
import { defaultPolling, pollPeriodically } from '../engine/delivery-reports/poll-periodically.ts';
import { loadPollableAccounts } from '../engine/delivery-reports/receiver-accounts.ts';
import { createReportStore } from '../engine/delivery-reports/report-store.ts';
import type { Logger } from '../platform/logger.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../server/receiver.ts';
import type { Shell } from './shell.ts';

export type ReceiverSetup = {
  readonly accounts: ReceiverOptions['accounts'];
  readonly sharing?: ReceiverOptions['sharing'];
  readonly publicUrl: string | undefined;
  readonly logger: Logger;
};

/** @throws InputError when the port is not available */
export async function openReceiver(
  shell: Shell,
  context: EngineContext,
  { accounts, sharing = noSharing, publicUrl, logger }: ReceiverSetup,
  options: Omit<ReceiverOptions, 'accounts' | 'sharing' | 'logger' | 'store'>,
): Promise<Receiver> {
  const store = createReportStore(context);
  const receiver = await startReceiver(context, { ...options, accounts, sharing, logger, store });
  for (const account of accounts.keys()) {
    const path = `/webhook/${encodeURIComponent(account)}/<its webhookToken>`;
    shell.note(`Delivery reports of account ${account}: POST ${publicUrl ?? receiver.url}${path}`);
  }
  return receiver;
}

export async function pollMissing(
  shell: Shell,
  context: EngineContext,
  { accounts, logger }: ReceiverSetup,
  { wake, stop }: Pick<Receiver, 'wake'> & { readonly stop: AbortSignal },
): Promise<void> {
  const { accounts: pollable, problems } = await loadPollableAccounts(shell.settings, accounts.keys());
  for (const { name } of pollable)
    shell.note(
      `Missing delivery reports of account ${name} are looked up, from five minutes to six hours after acceptance.`,
    );
  for (const problem of problems) logger.warn({ problem }, 'missing delivery reports cannot be looked up');
  await pollPeriodically(context, pollable, { ...defaultPolling, onReports: wake, logger, stop });
}
