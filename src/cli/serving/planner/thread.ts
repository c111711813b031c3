import { parentPort, workerData } from 'node:worker_threads';
import { planCampaign, startByKey } from '../../../engine/access/start-by-key.ts';
import { loadAccount } from '../../../engine/load-definition.ts';
import { findCommand } from '../../../engine/notify/find-command.ts';
import type { WatchOptions } from '../../../engine/schedule/check-periodically.ts';
import { watchRests } from '../../../engine/schedule/watch-rests.ts';
import { defaultInterval, watchSchedules } from '../../../engine/schedule/watch-schedules.ts';
import { openLogger } from '../../../platform/logger.ts';
import { currentUser } from '../../current-user.ts';
import { openContextAt } from '../../open-context.ts';
import {
  type Answer,
  type FromPlanner,
  type PlannerData,
  type Question,
  type ToPlanner,
  toFailure,
} from './messages.ts';

const data: PlannerData = workerData;
const port = parentPort;
if (!port) throw new Error('this module must run in a worker thread');

const { environment, workingFolder, envFiles } = data;
const settings = { environment, workingFolder, envFiles };
const campaignSource = {
  folder: data.campaigns,
  settings,
  accountNamed: (name: string) => loadAccount(name, settings),
};
const logger = openLogger(settings.environment['LOG_LEVEL'], 'info');
const stopping = new AbortController();
const ending = new AbortController();
const opener = {
  user: currentUser(settings.environment),
  settings,
  now: () => new Date(),
  note: (what: string) => logger.warn(what),
};
const context = await openContextAt(opener, data, { access: 'migrate' });
const openQuestions = new Set<Promise<void>>();
const openPlans = new Map<number, AbortController>();

async function answer(id: number, question: Question): Promise<Answer> {
  switch (question.kind) {
    case 'plan': {
      const { kind, request, actor } = question;
      const plan = new AbortController();
      openPlans.set(id, plan);
      const plans = planCampaign({ ...context, actor }, campaignSource, request, {
        onProgress: (progress) => send({ kind: 'progress', id, progress }),
        stop: AbortSignal.any([plan.signal, ending.signal]),
      });
      return { kind, plan: await plans.finally(() => openPlans.delete(id)) };
    }
    case 'start run': {
      const { kind, request, actor } = question;
      const end = await startByKey({ ...context, actor }, campaignSource, request, (file) =>
        logger.warn(file, 'contact file not moved; it is not read again'),
      );
      return { kind, end };
    }
    case 'find command': {
      const { kind, file, command, allowed } = question;
      return { kind, found: await findCommand(file, command, { ...allowed, settings }) };
    }
    case 'keep schedules':
      await keepSchedules({ every: defaultInterval, logger, stop: stopping.signal });
      return { kind: question.kind };
  }
}

async function keepSchedules(options: WatchOptions): Promise<void> {
  await Promise.all([
    watchSchedules(context, campaignSource, options),
    watchRests(context, settings, options),
  ]);
}

async function answerAndSend(id: number, question: Question): Promise<void> {
  const said = await answer(id, question).then(
    (given): FromPlanner => ({ kind: 'answer', id, answer: given }),
    (error: unknown): FromPlanner => ({ kind: 'failure', id, failure: toFailure(error) }),
  );
  send(said);
}

function send(message: FromPlanner): void {
  port?.postMessage(message);
}

async function end(): Promise<void> {
  stopping.abort();
  // A plan is not needed any more, and a start is finished.
  ending.abort();
  await Promise.all(openQuestions);
  await context.ledger.close();
  // An open port would keep the thread running.
  port?.close();
}

port.on('message', (message: ToPlanner) => {
  switch (message.kind) {
    case 'stop schedules':
      return stopping.abort();
    case 'stop plan':
      return openPlans.get(message.id)?.abort();
    case 'end':
      return void end();
    case 'ask': {
      const answering = answerAndSend(message.id, message.question).finally(() =>
        openQuestions.delete(answering),
      );
      openQuestions.add(answering);
    }
  }
});
