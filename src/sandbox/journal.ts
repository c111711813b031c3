import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { SendRequest } from '../domain/message.ts';
import { InputError } from '../domain/problems.ts';
import { errorMessage } from '../platform/file-error.ts';
import type { Receipt } from './receive-request.ts';

/** Null where the request was not understood. Never contains credentials. */
export type JournalLine = ReturnType<typeof journalLine>;

/** @param repeated whether the MessageID was received before */
export function journalLine(receipt: Receipt, at: Date, repeated: boolean) {
  const { request } = receipt;
  return {
    at: at.toISOString(),
    interface: receipt.interface ?? null,
    format: receipt.format ?? null,
    channel: receipt.channel ?? null,
    messageId: receipt.acceptedAs?.messageId ?? request?.messageId ?? null,
    recipients: request?.destinations.map(({ Recipient }) => Recipient) ?? [],
    status: receipt.answer.status,
    repeated,
    words: receipt.words,
    message: request ? journalledMessage(request) : null,
  };
}

/** Some samples have credentials among the message's fields. */
const credentialNames = /^(sender|api_?key|(auth_?)?token|authorization)$/i;

function journalledMessage({ fields, destinations, files, keypads }: SendRequest) {
  return {
    fields: Object.fromEntries(Object.entries(fields).filter(([name]) => !credentialNames.test(name))),
    // In the order of the recipients.
    destinations: destinations.map(({ Recipient: _, ...others }) => others),
    // The decoded size.
    files: files.map(({ Name, Data }) => ({ name: Name, bytes: Buffer.byteLength(Data, 'base64') })),
    keypads,
  };
}

/**
 * One JSON object per line for every send request. Follow-up calls and the WSDL are left out, because they
 * bring no message.
 *
 * @param path undefined to keep no journal
 * @throws InputError when the file cannot be opened
 */
export async function openJournal(path: string | undefined) {
  if (path === undefined) return { write: async () => {}, close: async () => {} };
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  try {
    await once(stream, 'open');
  } catch (cause) {
    const what = `The file cannot be written: ${errorMessage(cause)}.`;
    throw new InputError([{ where: `--journal ${path}`, what }], { cause });
  }
  // `write` reports a failed write; without a listener it would also end the process.
  stream.on('error', () => {});
  return {
    /** Resolves when the operating system has the line, so that it survives the process. */
    write: (line: JournalLine) =>
      new Promise<void>((resolve, reject) => {
        stream.write(`${JSON.stringify(line)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    async close() {
      stream.end();
      await finished(stream);
    },
  };
}
