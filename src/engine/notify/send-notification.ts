import { join, resolve } from 'node:path';
import { type FrozenTarget, frozenTarget } from '../../campaign/notify.ts';
import type { MissedTicks, NotificationPayload } from '../../domain/notify.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import { callWebhook, readWebhook } from '../../gateway/webhook.ts';
import type { AcquiredNotification } from '../../ledger/notifications/acquire.ts';
import { changeNotification } from '../../ledger/notifications/settle.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { runCommand } from '../../platform/run-command.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { readSummary } from '../runs/find-run.ts';
import { readWaits } from '../runs/waits.ts';
import type { Settings } from '../settings.ts';
import { trace } from '../trace-points.ts';
import type { FindCommand } from './find-command.ts';
import { type Mail, planMail } from './plan-mail.ts';

export type NotifyOptions = {
  readonly settings: Settings;
  /** Relative to the working folder. Commands run only from files in it, or from: */
  readonly campaigns: string;
  /** The campaign that this process runs. */
  readonly ownCampaign: string | undefined;
  readonly findCommand: FindCommand;
  readonly accountNamed: AccountNamed;
  readonly writeMail: (payload: NotificationPayload) => Mail;
};

export type NotifyResult =
  | { readonly kind: 'acknowledged'; readonly output?: string }
  /** The e-mail is planned as a run. */
  | { readonly kind: 'mailed'; readonly run: string }
  | { readonly kind: 'failed'; readonly problem: string; readonly output?: string }
  /** The receiver wants no more notifications. */
  | { readonly kind: 'unsubscribed'; readonly problem: string }
  /** Another process may be able to send it. */
  | { readonly kind: 'unavailable'; readonly problem: string }
  /** Another process has acquired it. */
  | { readonly kind: 'superseded' };

/** Milliseconds. */
const commandTimeout = 60_000;

/** Makes one attempt, which is recorded before anything leaves. @param cutOff ends the attempt */
export async function sendNotification(
  context: EngineContext,
  acquired: AcquiredNotification,
  options: NotifyOptions,
  cutOff: AbortSignal,
): Promise<NotifyResult> {
  const target = frozenTarget.parse(acquired.target);
  switch (target.kind) {
    case 'command':
      return runCommandTarget(context, acquired, target, { ...options, cutOff });
    case 'webhook':
      return callWebhookTarget(context, acquired, target, { ...options, cutOff });
    case 'email':
      return planMailTarget(context, acquired, target, options);
  }
}

type AttemptOptions = NotifyOptions & { readonly cutOff: AbortSignal };

type Target<Kind> = Extract<FrozenTarget, { kind: Kind }>;

async function callWebhookTarget(
  context: EngineContext,
  acquired: AcquiredNotification,
  target: Target<'webhook'>,
  { settings, cutOff }: AttemptOptions,
): Promise<NotifyResult> {
  const problems: Problem[] = [];
  const webhook = readWebhook(target, () => 'notify', settings.environment, problems);
  if (!webhook) return { kind: 'unavailable', problem: problems.map(({ what }) => what).join(' ') };
  return sendOnce(context, acquired, async (body) => {
    const end = await callWebhook(webhook, { id: acquired.notification, now: context.now(), body }, cutOff);
    return end.kind === 'gone'
      ? { kind: 'unsubscribed', problem: 'answered 410: the receiver wants no more notifications' }
      : end;
  });
}

async function runCommandTarget(
  context: EngineContext,
  acquired: AcquiredNotification,
  { command }: Target<'command'>,
  options: AttemptOptions,
): Promise<NotifyResult> {
  const found = await options.findCommand(campaignFileOf(acquired, options), command, options);
  if (found.kind === 'unavailable') return found;
  return sendOnce(context, acquired, async (input) => {
    const environment = environmentOf(acquired, options.settings.environment);
    const call = { command, folder: found.folder, environment, input, timeout: commandTimeout };
    const { problem, output } = await runCommand(call, options.cutOff);
    return problem === undefined ? { kind: 'acknowledged', output } : { kind: 'failed', problem, output };
  });
}

/** A schedule is named by its file in the campaigns folder. */
function campaignFileOf(
  { schedule, campaignFile }: AcquiredNotification,
  { settings, campaigns }: NotifyOptions,
): string | undefined {
  if (schedule === null) return campaignFile ?? undefined;
  return resolve(settings.workingFolder, join(campaigns, schedule));
}

/** What a program needs to find others, and its language. No secrets. */
const inheritedVariables = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

function environmentOf(
  { notification, event, run, schedule }: AcquiredNotification,
  environment: Settings['environment'],
): Record<string, string> {
  const kept = inheritedVariables.flatMap((name): [string, string][] => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(kept),
    VOLLEY_NOTIFICATION: notification,
    VOLLEY_EVENT: event,
    ...(run !== null && { VOLLEY_RUN: run }),
    ...(schedule !== null && { VOLLEY_SCHEDULE: schedule }),
  };
}

/** The result and the run are committed together, so the e-mail is planned once. */
async function planMailTarget(
  context: EngineContext,
  acquired: AcquiredNotification,
  target: Target<'email'>,
  { accountNamed, writeMail }: NotifyOptions,
): Promise<NotifyResult> {
  const account = await accountNamed(target.account).catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    return error;
  });
  if (account instanceof InputError) return { kind: 'unavailable', problem: account.message };
  const event = await describeEvent(context, acquired);
  const superseded = new AbortController();
  try {
    const run = await planMail(context, {
      account,
      campaign: event.data.campaign,
      target,
      mail: writeMail(event),
      alongside: async (client, mailRun) => {
        const change = { to: 'acknowledged', endedAt: context.now(), mailRun } as const;
        if (await changeNotification(client, acquired, change)) return;
        superseded.abort();
        throw new Error('another process has acquired the notification');
      },
    });
    trace('notification mailed', acquired.notification);
    return { kind: 'mailed', run };
  } catch (error) {
    if (superseded.signal.aborted) return { kind: 'superseded' };
    throw error;
  }
}

/** Records the attempt before anything leaves. */
async function sendOnce(
  context: EngineContext,
  acquired: AcquiredNotification,
  send: (body: string) => Promise<NotifyResult>,
): Promise<NotifyResult> {
  const body = acquired.body ?? JSON.stringify(await describeEvent(context, acquired));
  const begun = await changeNotification(context.ledger.pool, acquired, { to: 'attempted', body });
  if (!begun) return { kind: 'superseded' };
  trace('notification begun', acquired.notification);
  const result = await send(body);
  trace('notification sent', acquired.notification);
  return result;
}

/** A run's counts, and what it waits for, are read now. @throws InputError if the run no longer exists */
async function describeEvent(
  context: EngineContext,
  { run, schedule, missed, refused, event, reason: noted, createdAt }: AcquiredNotification,
): Promise<NotificationPayload> {
  const reason = formatReasonOrNull(noted);
  const timestamp = createdAt.toISOString();
  if (event === 'refused' && refused)
    return { type: 'run.refused', timestamp, data: { ...refused, schedule } };
  if (event === 'missed' && missed && schedule !== null) {
    const data = { ...missed, schedule, reason: missedReason(missed, reason) };
    return { type: 'schedule.missed', timestamp, data };
  }
  if (event === 'missed' || event === 'refused' || run === null)
    throw new Error(`a notification of ${event} has no run, tick or refused run`);
  return inSnapshot(context.ledger.pool, async (client) => {
    const summary = await readSummary(client, run);
    const waitsFor = (await readWaits(client, [run], context.now())).get(run) ?? [];
    return { type: `run.${event}`, timestamp, data: { ...summary, reason, waitsFor } };
  });
}

/** A planning failure may quote a contact file, so it stays in the ledger. */
function missedReason({ state }: Pick<MissedTicks, 'state'>, reason: string | null): string | null {
  return reason ?? (state === 'failed' ? 'it could not be planned; volley schedule list says why' : null);
}
