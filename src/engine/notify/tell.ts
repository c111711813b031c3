import { join, resolve } from 'node:path';
import { type FrozenTarget, frozenTarget } from '../../campaign/notify.ts';
import type { Told } from '../../domain/notify.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { callWebhook } from '../../gateway/webhook.ts';
import { readWebhook } from '../../gateway/webhook-settings.ts';
import { beginAttempt, noteMailed } from '../../ledger/notifications/settle.ts';
import type { TakenNotification } from '../../ledger/notifications/take.ts';
import { runCommand } from '../../platform/run-command.ts';
import type { EngineContext } from '../context.ts';
import { pass } from '../points.ts';
import type { Settings } from '../settings.ts';
import type { FindCommand } from './find-command.ts';
import { type Mail, planMail } from './mail-run.ts';
import { describeEvent } from './told.ts';

export type TellingTools = {
  readonly settings: Settings;
  /** The folder of campaigns, relative to the working folder. Commands are run from files in it, and from no other but: */
  readonly campaigns: string;
  /** The campaign that this process was told to run, relative to the working folder. */
  readonly ownCampaign: string | undefined;
  readonly findCommand: FindCommand;
  /** @throws InputError for an account that this process does not have */
  readonly accountNamed: (name: string) => Promise<Account>;
  readonly writeMail: (told: Told) => Mail;
};

export type Telling =
  | { readonly kind: 'told'; readonly output?: string }
  /** As `told`, by a run that is to be sent. */
  | { readonly kind: 'mailed'; readonly run: string }
  | { readonly kind: 'not told'; readonly problem: string; readonly output?: string }
  /** Whoever it is wants no more. */
  | { readonly kind: 'gone'; readonly problem: string }
  /** Another process may have what it takes. */
  | { readonly kind: 'not here'; readonly problem: string }
  /** Another process has it by now. */
  | { readonly kind: 'taken' };

/** Milliseconds that a command has. */
export const commandTime = 60_000;

/** Tells somebody, in one attempt, which is noted before anything leaves. @param cutOff ends the attempt where it stands */
export async function tell(
  context: EngineContext,
  taken: TakenNotification,
  tools: TellingTools,
  cutOff: AbortSignal,
): Promise<Telling> {
  const target = frozenTarget.parse(taken.target);
  switch (target.kind) {
    case 'command':
      return runTarget(context, taken, target, tools, cutOff);
    case 'webhook':
      return callTarget(context, taken, target, tools, cutOff);
    case 'email':
      return mailTarget(context, taken, target, tools);
  }
}

type Target<Kind> = Extract<FrozenTarget, { kind: Kind }>;

async function callTarget(
  context: EngineContext,
  taken: TakenNotification,
  target: Target<'webhook'>,
  { settings }: TellingTools,
  cutOff: AbortSignal,
): Promise<Telling> {
  const problems: Problem[] = [];
  const webhook = readWebhook(target, () => 'notify', settings.environment, problems);
  if (!webhook) return { kind: 'not here', problem: problems.map(({ what }) => what).join(' ') };
  const body = await begin(context, taken);
  if (body === undefined) return { kind: 'taken' };
  pass('notification begun', taken.notification);
  const end = await callWebhook(webhook, { id: taken.notification, now: context.now(), body }, cutOff);
  pass('notification sent', taken.notification);
  return end.kind === 'gone' ? { kind: 'gone', problem: 'answered 410: it wants no more of this' } : end;
}

async function runTarget(
  context: EngineContext,
  taken: TakenNotification,
  { command }: Target<'command'>,
  tools: TellingTools,
  cutOff: AbortSignal,
): Promise<Telling> {
  const found = await tools.findCommand(campaignFileOf(taken, tools), command, tools);
  if (found.kind === 'not here') return found;
  const body = await begin(context, taken);
  if (body === undefined) return { kind: 'taken' };
  pass('notification begun', taken.notification);
  const environment = environmentOf(taken, tools.settings.environment);
  const call = { words: command, folder: found.folder, environment, input: body, within: commandTime };
  const end = await runCommand(call, cutOff);
  pass('notification sent', taken.notification);
  return end.problem === undefined
    ? { kind: 'told', output: end.output }
    : { kind: 'not told', problem: end.problem, output: end.output };
}

/** A schedule is known by its file in the folder of campaigns, wherever that is. */
function campaignFileOf(
  { about }: TakenNotification,
  { settings, campaigns }: TellingTools,
): string | undefined {
  const schedule = scheduleOf(about);
  if (about.kind !== 'schedule' && schedule === null) return about.campaignFile ?? undefined;
  return schedule === null ? undefined : resolve(settings.workingFolder, join(campaigns, schedule));
}

function scheduleOf(about: TakenNotification['about']): string | null {
  switch (about.kind) {
    case 'run':
      return null;
    case 'schedule':
      return about.missed.schedule;
    case 'refusal':
      return about.schedule;
  }
}

/** What a program needs to find others and to write in its language; nothing that could be a secret. */
const passedOn = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

function environmentOf(
  { notification, event, about }: TakenNotification,
  environment: Settings['environment'],
): Record<string, string> {
  const kept = passedOn.flatMap((name): [string, string][] => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value]];
  });
  const schedule = scheduleOf(about);
  return {
    ...Object.fromEntries(kept),
    VOLLEY_NOTIFICATION: notification,
    VOLLEY_EVENT: event,
    ...(about.kind === 'run' && { VOLLEY_RUN: about.run }),
    ...(schedule !== null && { VOLLEY_SCHEDULE: schedule }),
  };
}

/** Told by nobody else: that it is told, and the run that tells it, are committed together. */
async function mailTarget(
  context: EngineContext,
  taken: TakenNotification,
  target: Target<'email'>,
  { accountNamed, writeMail }: TellingTools,
): Promise<Telling> {
  const account = await accountNamed(target.account).catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    return error;
  });
  if (account instanceof InputError) return { kind: 'not here', problem: account.message };
  const told = await describeEvent(context, taken);
  const lost = new AbortController();
  try {
    const run = await planMail(
      context,
      account,
      told.data.campaign,
      target,
      writeMail(told),
      async (client, planned) => {
        if (await noteMailed(client, taken, planned, context.now())) return;
        lost.abort();
        throw new Error('another process has it');
      },
    );
    pass('notification mailed', taken.notification);
    return { kind: 'mailed', run };
  } catch (error) {
    if (lost.signal.aborted) return { kind: 'taken' };
    throw error;
  }
}

/** @returns what is told; undefined when another process has it by now */
async function begin(context: EngineContext, taken: TakenNotification): Promise<string | undefined> {
  const body = taken.body ?? JSON.stringify(await describeEvent(context, taken));
  return (await beginAttempt(context.ledger.pool, taken, body)) ? body : undefined;
}
