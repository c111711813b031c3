import { batchOf } from '../batch.ts';
import { isMessageId, parseMessageId } from '../message-id.ts';
import type { ReadConnection } from '../session.ts';

export type RequestKey = { readonly run: string; readonly request: number };

export type NamedRequest = RequestKey & { readonly runAccount: string };

export const requestKeys = batchOf<RequestKey>({
  run_id: ['text', ({ run }) => run],
  request: ['integer', ({ request }) => request],
});

/** Takes one query, or none if no MessageID has our form. A MessageID with a wrong check is not found. */
export async function findRequestsByMessageId(
  client: ReadConnection,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, NamedRequest>> {
  const parsed = [...new Set(messageIds)].flatMap((messageId) => {
    const says = parseMessageId(messageId);
    return says ? [{ messageId, ...says }] : [];
  });
  if (parsed.length === 0) return new Map();
  const { rows } = await client.query<{ run: string; number: number; key: Buffer; account: string }>(
    'SELECT run_id AS run, run_number AS number, message_key AS key, account FROM runs WHERE run_number = ANY ($1::integer[])',
    [[...new Set(parsed.map(({ runNumber }) => runNumber))]],
  );
  const runs = new Map(rows.map((row) => [row.number, row]));
  const byMessageId = new Map<string, NamedRequest>();
  for (const { messageId, runNumber, request } of parsed) {
    const found = runs.get(runNumber);
    if (found && isMessageId(messageId, found.key))
      byMessageId.set(messageId, { run: found.run, request, runAccount: found.account });
  }
  return byMessageId;
}
