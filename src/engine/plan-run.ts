import type { Contact } from '../domain.ts';
import { inSession } from '../ledger/connection.ts';
import { expandRun } from '../ledger/contacts/expand.ts';
import { stageContacts } from '../ledger/contacts/stage.ts';
import { openLineCount } from './contact-files.ts';
import type { EngineContext } from './context.ts';
import type { PreparedCampaign } from './prepare.ts';
import { newRunId } from './run-id.ts';
import { openSmsReader } from './sms-text.ts';

/**
 * Import and expand: reads the contacts into the ledger and makes a planned run of them. A crash before this returns
 * leaves nothing behind.
 *
 * @param onRow called for each row read, for progress
 * @returns the run's id
 */
export async function planRun(
  context: EngineContext,
  { campaign, composition, files, contacts, contactFiles }: PreparedCampaign,
  onRow: () => void,
): Promise<string> {
  const definition = campaign.value;
  const now = context.now();
  const run = newRunId(now, context.randomBytes(5));
  await inSession(context.ledger.pool, async (client) => {
    const readSms = definition.channel === 'sms' ? openSmsReader() : undefined;
    await stageContacts(client, {
      contacts: counted(contacts, onRow),
      linesBefore: openLineCount(contactFiles),
      partsOf: ({ envelope, destination, address }) =>
        readSms?.(envelope, { Recipient: address, ...destination }).parts ?? null,
      takePieces: async () => [],
    });
    await expandRun(client, {
      run,
      campaign: definition.campaign,
      account: definition.account,
      channel: definition.channel,
      definition,
      messageKey: context.randomBytes(32),
      chunkSize: definition.dispatch.chunkSize,
      recipientColumn: composition.recipientColumn,
      contactFiles: [],
      readFile: files.read,
      approve: () => undefined,
      createdAt: now,
    });
  });
  return run;
}

async function* counted(
  contacts: AsyncIterable<readonly Contact[]>,
  onRow: () => void,
): AsyncGenerator<readonly Contact[], void, undefined> {
  for await (const batch of contacts) {
    for (const _ of batch) onRow();
    yield batch;
  }
}
