import { mergeText } from '../../campaign/merge.ts';
import { listDestinations } from '../../domain/destinations.ts';
import type { Channel, Destination, Envelope, MessageFields } from '../../domain/message.ts';
import type { FilledPlaceholder, RenderedMessage } from '../../domain/rendered-message.ts';
import { readContents, readEnvelopes } from '../../ledger/requests/read-contents.ts';
import { readRunFiles } from '../../ledger/runs/run-files.ts';
import type { EngineContext } from '../context.ts';
import { createFileReader, type FileReader, renderMessage } from './render-rows.ts';

/** A message that a planned run would send. */
export type PlannedMessage = {
  readonly request: number;
  /** The place of the recipient in the request, from 1, and how many it has. */
  readonly position: number;
  readonly recipients: number;
  readonly message: RenderedMessage;
};

/**
 * Messages of requests that were not sent yet, as their readers will get them: the first of each request.
 *
 * @param from number of the first request
 * @param count at most so many requests
 */
export async function readPlannedMessages(
  { ledger }: Pick<EngineContext, 'ledger'>,
  { run, channel }: { readonly run: string; readonly channel: Channel },
  from: number,
  count: number,
): Promise<PlannedMessage[]> {
  const range = { run, slice: 0, first: from, last: from + count - 1 };
  const { requests } = await readContents(ledger.pool, range, from - 1, ledger.hashKey);
  const wanted = requests.filter(({ request }) => request <= range.last);
  const envelopes = new Map(
    (await readEnvelopes(ledger.pool, run, [...new Set(wanted.map(({ envelope }) => envelope))])).map(
      (each) => [each.envelope, each],
    ),
  );
  const readFile = createRunFileReader(ledger, run);
  const messages: PlannedMessage[] = [];
  for (const { request, envelope, destinations } of wanted) {
    const found = envelopes.get(envelope);
    const [destination] = listDestinations(destinations);
    if (!found || !destination) continue;
    const message = await renderPlannedMessage(channel, found, destination, readFile);
    messages.push({ request, position: 1, recipients: destinations.count, message });
  }
  return messages;
}

export function createRunFileReader({ pool }: EngineContext['ledger'], run: string): FileReader {
  return createFileReader(async (path) => {
    const [file] = await readRunFiles(pool, run, [path]);
    return file?.data ?? Buffer.alloc(0);
  });
}

/** Renders a message as it stands in a run, whose own placeholders are filled. */
export function renderPlannedMessage(
  channel: Channel,
  envelope: Envelope,
  destination: Destination,
  readFile: FileReader,
): Promise<RenderedMessage> {
  const { fields } = envelope;
  const text = channel === 'sms' ? mergeText(fields['Message'] ?? '').mergedFor(destination) : null;
  const placeholders = listPlaceholders(fields, destination);
  return renderMessage(envelope, { channel, destination, placeholders, text }, readFile);
}

const placeholder = /\[\[([^[\]]+)\]\]/g;

/** Volley's own placeholders are filled already, so those that are left are of the service. */
function listPlaceholders(fields: MessageFields, destination: Destination): FilledPlaceholder[] | null {
  const values = new Map<string, string | undefined>(Object.entries(destination));
  const found = Object.entries(fields).flatMap(([place, text]) =>
    [...text.matchAll(placeholder)].map(([written, name = '']): FilledPlaceholder => {
      const value = values.get(name) ?? null;
      return {
        place,
        placeholder: written,
        value,
        source: value === null ? 'service' : 'column',
        mergedFrom: value === null ? null : name,
      };
    }),
  );
  return found.length === 0 ? null : found;
}
