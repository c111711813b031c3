import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../../gateway/account.ts';
import { openGateway } from '../../gateway/gateway.ts';
import { loggableReason } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import type { EngineContext } from '../context.ts';
import { createRateLimiter } from '../dispatch/rate-limiter.ts';
import { maxPollAge, pollReports } from './poll.ts';

/** Milliseconds. */
export type Polling = {
  readonly every: number;
  readonly acceptedFor: number;
  /** The service is not asked after that. */
  readonly acceptedWithin: number;
};

export const defaultPolling: Polling = {
  every: 60_000,
  acceptedFor: 5 * 60_000,
  acceptedWithin: maxPollAge,
};

/** Logs failures and tries again. @param onReports called when delivery reports arrive */
export async function pollPeriodically(
  context: EngineContext,
  accounts: readonly Account[],
  polling: Polling,
  onReports: () => void,
  logger: Logger,
  stop: AbortSignal,
): Promise<void> {
  await Promise.all(
    accounts.map((account) => pollAccount(context, account, polling, onReports, logger, stop)),
  );
}

async function pollAccount(
  context: EngineContext,
  account: Account,
  { every, ...window }: Polling,
  onReports: () => void,
  logger: Logger,
  stop: AbortSignal,
): Promise<void> {
  const gateway = openGateway(account);
  const work = { account, gateway, rate: createRateLimiter(context, account), ...window };
  const about = { account: account.name };
  while (!stop.aborted) {
    try {
      const end = await pollReports(context, work, stop, () => undefined);
      if (end.reports > 0) onReports();
      if (end.kind === 'refused') {
        const { words, ...counts } = end;
        logger.warn({ ...about, ...counts }, 'the service refused the credential');
        // They may quote any text.
        logger.debug({ ...about, words }, 'words of the refusal');
      }
      if (end.kind !== 'refused' && end.asked > 0)
        logger.info({ ...about, ...end }, 'missing delivery reports looked up');
    } catch (error) {
      const reason = loggableReason(error);
      logger.error({ ...about, reason }, 'missing delivery reports not looked up; trying again');
    }
    await sleep(every, undefined, { signal: stop }).catch(() => undefined);
  }
  await gateway.close();
}
