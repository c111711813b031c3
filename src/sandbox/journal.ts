import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { Keypad, SendRequest } from '../domain/message.ts';
import { InputError } from '../domain/problems.ts';
import { errorMessage } from '../platform/file-error.ts';
import type { Receipt } from './receive-request.ts';

/**
 * One JSON object per line for every send request. Follow-up calls and the WSDL are left out, because they
 * bring no message.
 */
type Journal = {
  /** Resolves when the operating system has the line, so that it survives the process. */
  readonly write: (line: JournalLine) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Null where the request was not understood. Never contains credentials. */
export type JournalLine = {
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly interface: string | null;
  readonly format: string | null;
  readonly channel: string | null;
  readonly messageId: string | null;
  readonly recipients: readonly string[];
  readonly status: number;
  readonly repeated: boolean;
  /** Why the request was not accepted. */
  readonly words: readonly string[];
  readonly message: JournalledMessage | null;
};

type JournalledMessage = {
  readonly fields: Readonly<Record<string, string>>;
  /** Without the recipient; in the order of `recipients`. */
  readonly destinations: readonly Readonly<Record<string, string>>[];
  /** `bytes` is the decoded size. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  readonly keypads: readonly Keypad[];
};

export function journalLine(receipt: Receipt, at: Date, repeated: boolean): JournalLine {
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

function journalledMessage({ fields, destinations, files, keypads }: SendRequest): JournalledMessage {
  return {
    fields: Object.fromEntries(Object.entries(fields).filter(([name]) => !credentialNames.test(name))),
    destinations: destinations.map(({ Recipient: _, ...fields }) => fields),
    files: files.map(({ Name, Data }) => ({ name: Name, bytes: Buffer.byteLength(Data, 'base64') })),
    keypads,
  };
}

/** @param path undefined to keep no journal @throws InputError when the file cannot be opened */
export async function openJournal(path: string | undefined): Promise<Journal> {
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
    write: (line) =>
      new Promise((resolve, reject) => {
        stream.write(`${JSON.stringify(line)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    async close() {
      stream.end();
      await finished(stream);
    },
  };
}
