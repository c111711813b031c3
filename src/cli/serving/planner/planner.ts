import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, type Worker } from 'node:worker_threads';
import { EndedError } from '../../../domain/problems.ts';
import type { PlanCampaign, StartRun } from '../../../engine/access/start-by-key.ts';
import type { EngineContext } from '../../../engine/context.ts';
import { loadAccount } from '../../../engine/load-definition.ts';
import type { FindCommand } from '../../../engine/notify/find-command.ts';
import type { CampaignSource } from '../../../engine/schedule/start-ticks.ts';
import { defaultInterval } from '../../../engine/schedule/watch-schedules.ts';
import type { Settings } from '../../../engine/settings.ts';
import { loggableReason } from '../../../platform/database-failures.ts';
import type { Logger } from '../../../platform/logger.ts';
import { startThread } from '../../../platform/start-thread.ts';
import {
  type Answer,
  type FromPlanner,
  type Given,
  type PlannerData,
  type QuestionKind,
  type ToPlanner,
  toError,
  type Watch,
} from './messages.ts';

/** Reads campaign and contact files in a thread, so that the process answers meanwhile. Restarts an ended thread. */
export type Planner = {
  readonly campaignSource: CampaignSource;
  readonly planCampaign: PlanCampaign;
  readonly startRun: StartRun;
  readonly findCommand: FindCommand;
  /** Runs until the signal. Failures are logged and tried again. */
  readonly keepSchedules: (stop: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};

export function openPlanner(
  { ledger: { connection, description } }: Pick<EngineContext, 'ledger'>,
  settings: Settings,
  campaigns: string,
  logger: Logger,
): Planner {
  const { environment, workingFolder, envFiles = [] } = settings;
  const { ask, close } = createThread({
    connection,
    description,
    settings: { environment: { ...environment }, workingFolder, envFiles },
    campaigns,
  });
  return {
    campaignSource: { folder: campaigns, settings, accountNamed: (name) => loadAccount(name, settings) },
    planCampaign: ({ actor }, request, watch) => ask('planCampaign', { request, actor }, watch),
    startRun: ({ actor }, request) => ask('startRun', { request, actor }),
    findCommand: (file, command, { campaigns: folder, ownCampaign }) =>
      ask('findCommand', { file, command, allowed: { campaigns: folder, ownCampaign } }),
    async keepSchedules(stop) {
      while (!stop.aborted) {
        await ask('keepSchedules', undefined, { stop }).catch((error: unknown) => {
          logger.error({ reason: loggableReason(error) }, 'schedules not checked; trying again');
        });
        await sleep(defaultInterval, undefined, { signal: stop }).catch(() => undefined);
      }
    },
    close,
  };
}

function createThread(data: PlannerData) {
  /** Rejects the open questions. */
  const open = new Set<(ended: EndedError) => void>();
  let worker: Worker | undefined;

  function start(): Worker {
    const started = startThread(new URL('./thread', import.meta.url), { workerData: data, name: 'planner' });
    let cause: unknown;
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      const why = cause === undefined ? '' : ` (${loggableReason(cause)})`;
      for (const reject of open) reject(new EndedError(`the planning thread has ended${why}`, { cause }));
    });
    return started;
  }

  return {
    /** Starts the thread if there is none. */
    ask<Kind extends QuestionKind>(
      kind: Kind,
      given: Given<Kind>,
      { onProgress, stop }: Partial<Watch> = {},
    ): Promise<Answer<Kind>> {
      worker ??= start();
      const { port1: own, port2: port } = new MessageChannel();
      const { promise, resolve, reject } = Promise.withResolvers<Answer<Kind>>();
      own.on('message', (message: FromPlanner<Kind>) => {
        if (message.kind === 'progress') onProgress?.(message.progress);
        else if (message.kind === 'failure') reject(toError(message.failure));
        else resolve(message.answer);
      });
      open.add(reject);
      worker.postMessage({ kind, given, port }, [port]);
      const end = (): void => own.postMessage('stop');
      stop?.addEventListener('abort', end, { once: true });
      return promise.finally(() => {
        stop?.removeEventListener('abort', end);
        open.delete(reject);
        own.close();
      });
    },
    async close(): Promise<void> {
      if (!worker) return;
      const ended = once(worker, 'exit');
      const end: ToPlanner = 'end';
      worker.postMessage(end);
      await ended;
    },
  };
}
