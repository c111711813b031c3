import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineContext } from '../../engine/context.ts';
import { drainDeadlines } from '../../engine/dispatch/drain.ts';
import { createOutageRetry } from '../../engine/dispatch/outage-retry.ts';
import { runWorker } from '../../engine/dispatch/worker.ts';
import { type FindCommand, findCommand } from '../../engine/notify/find-command.ts';
import { runNotifier } from '../../engine/notify/notifier.ts';
import type { NotifyOptions } from '../../engine/notify/send-notification.ts';
import {
  type ListedNotification,
  listNotifications,
  listRunNotifications,
} from '../../ledger/notifications/list.ts';
import { openLogger } from '../../platform/logger.ts';
import { formatNotificationMail } from '../../report/notification-mail.ts';
import { campaignsFolder } from '../options.ts';
import type { Shell } from '../shell.ts';
import { accountLoader } from './surroundings.ts';

/**
 * @param campaigns the folder of campaigns
 * @param ownCampaign the campaign file of this `volley run`
 */
export function createNotifyOptions(
  shell: Shell,
  campaigns: string,
  findCommand: FindCommand,
  ownCampaign?: string,
): NotifyOptions {
  return {
    findCommand,
    settings: shell.settings,
    campaigns,
    ownCampaign,
    accountNamed: accountLoader(shell),
    writeMail: formatNotificationMail,
  };
}

/** Milliseconds. The next process sends later notifications. */
const notifyTimeout = 20_000;
const mailTimeout = 30_000;

/** Sends notifications that no worker has sent, also other due ones. */
export async function notifyAboutRun(
  shell: Shell,
  context: EngineContext,
  run: string,
  ownCampaign?: string,
): Promise<void> {
  await notifyUntilDone(shell, context, () => listRunNotifications(context.ledger.pool, run), {
    ownCampaign,
    more: ` (see \`volley status ${run}\`)`,
  });
}

export async function notifyAboutRefusal(
  shell: Shell,
  context: EngineContext,
  notifications: readonly string[],
  ownCampaign: string,
): Promise<void> {
  if (notifications.length === 0) return;
  await notifyUntilDone(shell, context, () => listNotifications(context.ledger.pool, notifications), {
    ownCampaign,
    more: '',
  });
}

async function notifyUntilDone(
  shell: Shell,
  context: EngineContext,
  list: () => Promise<readonly ListedNotification[]>,
  { ownCampaign, more }: { readonly ownCampaign: string | undefined; readonly more: string },
): Promise<void> {
  const { monotonic } = context;
  const hasDue = async (): Promise<boolean> => (await list()).some(({ state }) => state === 'due');
  const logger = openLogger(shell.settings.environment['LOG_LEVEL'], 'warn');
  const deadlines = drainDeadlines(shell.stop);
  const options = {
    tools: createNotifyOptions(shell, campaignsFolder(shell), findCommand, ownCampaign),
    pollInterval: undefined,
    logger,
    stop: shell.stop,
    cutOff: deadlines.cutOff,
  };
  try {
    const end = monotonic() + notifyTimeout;
    for (;;) {
      await runNotifier(context, options);
      if (shell.stop.aborted || monotonic() > end || !(await hasDue())) break;
      await sleep(500, undefined, { signal: shell.stop }).catch(() => undefined);
    }
    if (await hasDue())
      shell.note(
        `Some notifications are not sent yet${more}. A worker, or the next \`volley run\`, sends them.`,
      );
    for (const { mailRun } of await list()) if (mailRun !== null) await sendMail(shell, context, mailRun);
  } finally {
    deadlines.clear();
  }
}

/** A slow e-mail stays in the queue for the next process. */
async function sendMail(shell: Shell, context: EngineContext, run: string): Promise<void> {
  const over = new AbortController();
  const stop = AbortSignal.any([shell.stop, over.signal, AbortSignal.timeout(mailTimeout)]);
  const deadlines = drainDeadlines(stop);
  const silent = { onDown: () => undefined, onUp: () => undefined };
  try {
    await runWorker(context, {
      accountNamed: accountLoader(shell),
      stop,
      cutOff: deadlines.cutOff,
      outageRetry: createOutageRetry(silent, context.ledger, deadlines.giveUp),
      watchedRun: run,
      onProgress: ({ state, heldSlices }) => {
        if (state !== 'running' && heldSlices === 0) over.abort();
      },
    });
  } finally {
    deadlines.clear();
  }
}
