import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { EndedError } from '../../../domain/problems.ts';
import type { PlanCampaign, StartRun } from '../../../engine/access/start-by-key.ts';
import type { EngineContext } from '../../../engine/context.ts';
import type { FindCommand } from '../../../engine/notify/find-command.ts';
import { defaultInterval } from '../../../engine/schedule/watch-schedules.ts';
import type { Settings } from '../../../engine/settings.ts';
import { loggableReason } from '../../../platform/database-failures.ts';
import type { Logger } from '../../../platform/logger.ts';
import { startThread } from '../../../platform/start-thread.ts';
import {
  type Answer,
  type FromPlanner,
  type PlannerData,
  type Question,
  type ToPlanner,
  toError,
} from './messages.ts';

/** Reads campaign and contact files in a thread, so that the process answers meanwhile. Restarts an ended thread. */
export type Planner = {
  readonly planCampaign: PlanCampaign;
  readonly startRun: StartRun;
  readonly findCommand: FindCommand;
  /** Runs until the signal. Failures are logged and tried again. */
  readonly keepSchedules: (stop: AbortSignal) => Promise<void>;
  /** Waits for open questions. */
  readonly close: () => Promise<void>;
};

export function openPlanner(
  { ledger: { connection, description } }: Pick<EngineContext, 'ledger'>,
  { environment, workingFolder, envFiles = [] }: Settings,
  campaigns: string,
  logger: Logger,
): Planner {
  const thread = createThread({
    connection,
    description,
    environment: { ...environment },
    workingFolder,
    envFiles,
    campaigns,
  });
  return {
    async planCampaign({ actor }, request, watch) {
      const answer = await thread.ask({ kind: 'plan', request, actor }, watch);
      if (answer.kind !== 'plan') throw new Error(`the planning thread answered ${answer.kind}`);
      return answer.plan;
    },
    async startRun({ actor }, request) {
      const answer = await thread.ask({ kind: 'start run', request, actor });
      if (answer.kind !== 'start run') throw new Error(`the planning thread answered ${answer.kind}`);
      return answer.end;
    },
    async findCommand(file, command, { campaigns: folder, ownCampaign }) {
      const allowed = { campaigns: folder, ownCampaign };
      const answer = await thread.ask({ kind: 'find command', file, command, allowed });
      if (answer.kind !== 'find command') throw new Error(`the planning thread answered ${answer.kind}`);
      return answer.found;
    },
    async keepSchedules(stop) {
      const end = (): void => thread.send({ kind: 'stop schedules' });
      stop.addEventListener('abort', end, { once: true });
      while (!stop.aborted) {
        await thread.ask({ kind: 'keep schedules' }).catch((error: unknown) => {
          logger.error({ reason: loggableReason(error) }, 'schedules not checked; trying again');
        });
        await sleep(defaultInterval, undefined, { signal: stop }).catch(() => undefined);
      }
      stop.removeEventListener('abort', end);
    },
    close: thread.close,
  };
}

type Watch = Parameters<PlanCampaign>[2];

type Thread = {
  /** Starts the thread if there is none. */
  readonly ask: (question: Question, watch?: Watch) => Promise<Answer>;
  readonly send: (message: ToPlanner) => void;
  readonly close: () => Promise<void>;
};

function createThread(data: PlannerData): Thread {
  const pending = new Map<number, PromiseWithResolvers<Answer> & { readonly watch: Watch | undefined }>();
  let worker: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    const started = startThread(new URL('./thread', import.meta.url), { workerData: data, name: 'planner' });
    started.on('message', (message: FromPlanner) => {
      const promise = pending.get(message.id);
      if (message.kind === 'progress') return promise?.watch?.onProgress(message.progress);
      pending.delete(message.id);
      if (message.kind === 'failure') promise?.reject(toError(message.failure));
      else promise?.resolve(message.answer);
    });
    let cause: unknown;
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      const why = cause === undefined ? '' : ` (${loggableReason(cause)})`;
      const ended = new EndedError(`the planning thread has ended${why}`, { cause });
      for (const { reject } of pending.values()) reject(ended);
      pending.clear();
    });
    return started;
  }

  const send = (message: ToPlanner): void => worker?.postMessage(message);
  return {
    send,
    ask(question, watch) {
      worker ??= start();
      const promise = { ...Promise.withResolvers<Answer>(), watch };
      const id = ++lastId;
      pending.set(id, promise);
      send({ kind: 'ask', id, question });
      watch?.stop.addEventListener('abort', () => send({ kind: 'stop plan', id }), { once: true });
      return promise.promise;
    },
    async close() {
      if (!worker) return;
      const ended = once(worker, 'exit');
      send({ kind: 'end' });
      await ended;
    },
  };
}
