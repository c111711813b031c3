import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DeliveryReportFormat } from '../../domain/delivery-reports.ts';
import { InputError } from '../../domain/problems.ts';
import { unreadableReason } from '../../platform/file-error.ts';
import type { DeliveryReportId, SandboxOptions } from '../../sandbox/options.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import type { Shell } from '../shell.ts';

export type SandboxFlags = {
  readonly host: string;
  readonly port: number;
  readonly journal?: string;
  readonly token?: string;
  readonly webhookUrl?: string;
  readonly webhookTokenFile?: string;
  readonly webhookFormat: DeliveryReportFormat;
  readonly webhookId: DeliveryReportId;
  readonly webhookSender?: string;
  readonly webhookApiKey?: string;
  readonly latency: number;
  readonly failRate: number;
  readonly undeliveredRate: number;
  readonly replyRate: number;
  readonly lenient: boolean;
  readonly clockSpeed: number;
  readonly timeZone: string;
  readonly deliveryDelay: number;
  readonly webhookRetry: number;
  readonly seed: number;
};

export async function sandboxAction(shell: Shell, flags: SandboxFlags): Promise<void> {
  const sandbox = await startSandbox({
    ...flags,
    ...webhookOf({ ...flags, ...withToken(shell, flags) }),
  });
  shell.note(`Sandbox listens on ${sandbox.url}`);
  shell.drainOnStop(() => 'The sandbox answers the open calls.');
  if (!shell.stop.aborted) await once(shell.stop, 'abort');
  await sandbox.close();
}

/** @throws InputError if the file cannot be read, or the address has no place for its token */
function withToken(
  { settings }: Shell,
  { webhookUrl, webhookTokenFile: file }: SandboxFlags,
): Pick<SandboxFlags, 'webhookUrl'> {
  if (file === undefined) return {};
  const refuse = (what: string): never => {
    throw new InputError([{ where: '--webhook-token-file', what }]);
  };
  if (!webhookUrl?.includes('{token}')) return refuse('Expected --webhook-url with {token} in it.');
  try {
    const token = readFileSync(resolve(settings.workingFolder, file), 'utf8').trim();
    return { webhookUrl: webhookUrl.replace('{token}', encodeURIComponent(token)) };
  } catch (error) {
    return refuse(`The file ${file} cannot be read (${unreadableReason(error, file)}).`);
  }
}

function webhookOf(flags: SandboxFlags): Pick<SandboxOptions, 'webhook'> {
  const { webhookUrl: url, webhookFormat: format, webhookId: id } = flags;
  const { webhookSender: sender, webhookApiKey: apiKey } = flags;
  if ((sender === undefined) !== (apiKey === undefined)) {
    const what = 'Expected both --webhook-sender and --webhook-api-key, or neither.';
    throw new InputError([{ where: sender === undefined ? '--webhook-sender' : '--webhook-api-key', what }]);
  }
  if (!url) return {};
  const credentials = sender !== undefined && apiKey !== undefined ? { credentials: { sender, apiKey } } : {};
  return { webhook: { url, format, id, ...credentials } };
}
