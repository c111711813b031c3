import { parentPort, workerData } from 'node:worker_threads';
import { planCampaign, startByKey } from '../../../engine/access/start-by-key.ts';
import { loadAccount } from '../../../engine/load-definition.ts';
import { findCommand } from '../../../engine/notify/find-command.ts';
import { watchRests } from '../../../engine/schedule/start-rests.ts';
import { defaultInterval, watchSchedules } from '../../../engine/schedule/watch-schedules.ts';
import { openLogger } from '../../../platform/logger.ts';
import { currentUser } from '../../current-user.ts';
import { openContextAt } from '../../open-context.ts';
import {
  type Answer,
  type FromPlanner,
  type Given,
  type PlannerData,
  type Question,
  type QuestionKind,
  type ToPlanner,
  toFailure,
  type Watch,
} from './messages.ts';

const data: PlannerData = workerData;
const port = parentPort;
if (!port) throw new Error('this module must run in a worker thread');

const { settings } = data;
const campaignSource = {
  folder: data.campaigns,
  settings,
  accountNamed: (name: string) => loadAccount(name, settings),
};
const logger = openLogger(settings.environment['LOG_LEVEL'], 'info');
const opener = {
  user: currentUser(settings.environment),
  settings,
  now: () => new Date(),
  note: (what: string) => logger.warn(what),
};
const context = await openContextAt(opener, data, { access: 'migrate' });
const ending = new AbortController();
const openQuestions = new Set<Promise<void>>();

type Tasks = {
  readonly [Kind in QuestionKind]: (given: Given<Kind>, watch: Watch) => Promise<Answer<Kind>>;
};

const tasks: Tasks = {
  planCampaign: ({ request, actor }, watch) =>
    planCampaign({ ...context, actor }, campaignSource, request, watch),
  startRun: ({ request, actor }) =>
    startByKey({ ...context, actor }, campaignSource, request, (file) =>
      logger.warn(file, 'contact file not moved; it is not read again'),
    ),
  findCommand: ({ file, command, allowed }) => findCommand(file, command, { ...allowed, settings }),
  async keepSchedules(_, { stop }) {
    const options = { every: defaultInterval, logger, stop };
    await Promise.all([
      watchSchedules(context, campaignSource, options),
      watchRests(context, settings, options),
    ]);
    return undefined;
  },
};

async function answer<Kind extends QuestionKind>({
  kind,
  given,
  port: asker,
}: Question<Kind>): Promise<void> {
  const send = (message: FromPlanner<Kind>): void => asker.postMessage(message);
  const stopped = new AbortController();
  asker.on('message', () => stopped.abort());
  await tasks[kind](given, {
    onProgress: (progress) => send({ kind: 'progress', progress }),
    // At the end, a plan is not needed any more, and a start is finished.
    stop: AbortSignal.any([stopped.signal, ending.signal]),
  }).then(
    (found) => send({ kind: 'answer', answer: found }),
    (error: unknown) => send({ kind: 'failure', failure: toFailure(error) }),
  );
}

async function end(): Promise<void> {
  ending.abort();
  await Promise.all(openQuestions);
  await context.ledger.close();
  // An open port would keep the thread running.
  port?.close();
}

port.on('message', (message: ToPlanner) => {
  if (message === 'end') return void end();
  const answering = answer(message).finally(() => openQuestions.delete(answering));
  openQuestions.add(answering);
});
