import { randomUUID } from 'node:crypto';
import { campaignWarnings } from '../../campaign/campaign.ts';
import type { Finding } from '../../domain/doctor.ts';
import { nextStepText } from '../../domain/next-step.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { findCampaign } from '../../engine/definition-files.ts';
import { askService } from '../../engine/doctor/accounts.ts';
import { prepareCampaign } from '../../engine/plan/prepare-campaign.ts';
import { variantWarnings } from '../../engine/plan/variant-warnings.ts';
import type { Settings, StandardInput } from '../../engine/settings.ts';
import { printable } from '../../report/printable.ts';
import type { Shell } from '../shell.ts';

/** `volley plan --check`. @param strict refuses what is only warned of */
export async function checkCampaign(
  shell: Shell,
  written: string,
  {
    json,
    strict,
    contacts: contactFiles,
  }: {
    readonly json: true | undefined;
    readonly strict: true | undefined;
    readonly contacts: readonly string[] | undefined;
  },
): Promise<void> {
  const { settings, now } = shell;
  const path = await findCampaign(written, settings);
  const { campaign, account, close } = await prepareCampaign(path, withoutSilentInput(settings), {
    contactFiles,
  });
  await close();
  const service = await askService(account, { settings, now, randomUuid: randomUUID });
  const warnings = [
    ...campaignWarnings(campaign, account, now()),
    ...variantWarnings(campaign),
    ...serviceWarnings(account.name, service),
  ];
  if (strict && warnings.length > 0) throw new InputError(warnings);
  for (const { where, what } of warnings) shell.note(`Warning: ${where}: ${what}`);
  const { campaign: name, channel } = campaign.value;
  shell.print(
    json
      ? JSON.stringify({ campaign: name, account: account.name, channel, ok: true, warnings, service })
      : `${path}: campaign ${name} is valid (${channel} through account ${account.name}).`,
  );
  if (!json && service.state !== 'problem' && service.state !== 'warning')
    shell.print(`account ${account.name}: ${service.found}`);
}

/** A machine without network can check a campaign too, so a service that it cannot reach is only warned of. */
function serviceWarnings(account: string, { state, found, nextStep }: Finding): Problem[] {
  if (state !== 'problem' && state !== 'warning') return [];
  const what = printable(nextStep === null ? found : `${found} ${nextStepText(nextStep)}`);
  return [{ where: `account ${account}`, what }];
}

/** Settings whose standard input ends where a caller leaves the pipe open and writes nothing. */
function withoutSilentInput(settings: Settings): Settings {
  const { environment, workingFolder, envFiles = [] } = settings;
  return {
    environment,
    workingFolder,
    envFiles,
    get standardInput() {
      return endAfterSilence(settings.standardInput);
    },
  };
}

/** Milliseconds. */
export const maxSilence = 5_000;

export function endAfterSilence(
  input: StandardInput | undefined,
  milliseconds = maxSilence,
): StandardInput | undefined {
  if (!input || input.isTTY) return input;
  return readUntilSilence(input, milliseconds);
}

async function* readUntilSilence(
  input: StandardInput,
  milliseconds: number,
): AsyncGenerator<Buffer, void, undefined> {
  const chunks = input[Symbol.asyncIterator]();
  let timedOut = false;
  try {
    for (;;) {
      const { promise: silence, resolve } = Promise.withResolvers<undefined>();
      const timer = setTimeout(resolve, milliseconds, undefined);
      const chunk = await Promise.race([chunks.next(), silence]).finally(() => clearTimeout(timer));
      timedOut = chunk === undefined;
      if (chunk === undefined) throw new InputError([{ where: 'standard input', what: noDataText }]);
      if (chunk.done) return;
      yield chunk.value;
    }
  } finally {
    // A pending read blocks return(), so the stream is destroyed.
    if (timedOut) input.destroy?.();
    else await chunks.return?.();
  }
}

const noDataText = `No data arrived for ${maxSilence / 1000} s. Pipe a file in, or name one with --contacts.`;
