import { loggableReason } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import type { EngineContext } from '../context.ts';
import type { Settings } from '../settings.ts';
import { applyInbox } from './apply-inbox.ts';
import { loadDeliveryReportRules } from './receiver-accounts.ts';

export type BackgroundApplier = {
  /** Applies what is due in the inbox, also where no process receives. Returns at once. */
  readonly wake: (context: EngineContext) => void;
  /** Waits for the present batches; the rest stays in the inbox. */
  readonly close: () => Promise<void>;
};

export function createBackgroundApplier(settings: Settings, logger: Logger): BackgroundApplier {
  let applying: Promise<void> | undefined;
  let isClosed = false;
  const apply = async (context: EngineContext): Promise<void> => {
    try {
      const rules = await loadDeliveryReportRules(settings);
      await applyInbox(context, { ...rules, shouldContinue: async () => !isClosed });
    } catch (error) {
      logger.warn({ reason: loggableReason(error) }, 'replayed delivery reports wait for the applier');
    }
  };
  return {
    wake: (context) => {
      applying = (applying ?? Promise.resolve()).then(() => apply(context));
    },
    close: async () => {
      isClosed = true;
      await applying;
    },
  };
}
