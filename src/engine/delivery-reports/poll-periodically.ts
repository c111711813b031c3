import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../../gateway/account.ts';
import { loggableReason } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import type { EngineContext } from '../context.ts';
import { type LookUpService, withLookUp } from '../dispatch/look-up-doubts.ts';
import { maxPollAge, pollReports } from './poll.ts';

/** Milliseconds. */
type Polling = {
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

type PollingOptions = Polling & {
  /** Called when delivery reports arrive. */
  readonly onReports: () => void;
  readonly logger: Logger;
  readonly stop: AbortSignal;
};

/** Logs failures and tries again. */
export async function pollPeriodically(
  context: EngineContext,
  accounts: readonly Account[],
  options: PollingOptions,
): Promise<void> {
  await Promise.all(
    accounts.map((account) =>
      withLookUp(context, account, (service) => pollAccount(context, service, options)),
    ),
  );
}

async function pollAccount(
  context: EngineContext,
  service: LookUpService,
  { every, acceptedFor, acceptedWithin, onReports, logger, stop }: PollingOptions,
): Promise<void> {
  const work = { ...service, acceptedFor, acceptedWithin };
  const about = { account: service.account.name };
  while (!stop.aborted) {
    try {
      const end = await pollReports(context, work, stop, { onUnclear: () => undefined });
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
}
