import { controlNumber } from '../../campaign/variants.ts';
import { type Contact, isKeyed } from '../../domain/contacts.ts';
import type { StagedRules } from '../../ledger/planning/planned-run.ts';
import { stageSuppressions } from '../../ledger/planning/remove-suppressed.ts';
import { type ContactSource, stageContacts } from '../../ledger/planning/stage-contacts.ts';
import type { Session } from '../../ledger/session.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { canaryRule } from '../watch/canary.ts';
import { accountCaps, notWithinCaps } from './caps.ts';
import {
  type ContactPlace,
  countLinesBefore,
  createFileAndLineFormatter,
  createPlaceFinder,
} from './contact-files.ts';
import { createPastSendTimeReader } from './contact-notes.ts';
import { createFingerprint, type Fingerprint } from './fingerprint.ts';
import { noOrigins, type Origins, readOrigins } from './origins.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { createSmsReader } from './sms-text.ts';

type Staging = Pick<ContactSource, 'tariffOf' | 'takePieces' | 'readNote'> & {
  readonly now: Date;
  /** Without a ledger, the origins of fixed contacts are not known. */
  readonly readsLedger: boolean;
  /** Called for each batch. */
  readonly onRead?: ((contacts: number) => void) | undefined;
};

/** A campaign whose contacts are in the temporary tables of a session. */
export type StagedCampaign = {
  readonly rules: StagedRules;
  readonly origins: Origins;
  readonly fingerprint: Fingerprint;
  /** Valid rows that the service would send at once, also those that are rejected later. */
  readonly pastSendTimes: number;
  /** Finds a line that is counted over all files. */
  readonly placeOf: (line: number) => ContactPlace;
  readonly fileAndLine: (line: number) => string;
};

/** Reads the contacts of a campaign into the session, for a plan or a run of it. */
export async function stageCampaign(
  session: Session,
  prepared: PreparedCampaign,
  { now, readsLedger, onRead, ...staging }: Staging,
): Promise<StagedCampaign> {
  const { campaign, account, composition, contactFiles, limit, suppressionLists, test, winner } = prepared;
  const definition = campaign.value;
  const { channel, dispatch, window, variants, until } = definition;
  const linesBefore = countLinesBefore(contactFiles);
  const fingerprint = createFingerprint(definition);
  const readPastSendTime = createPastSendTimeReader(campaign, now);
  const readSms = channel === 'sms' ? createSmsReader() : undefined;
  let pastSendTimes = 0;

  async function* watch(
    batches: AsyncIterable<readonly Contact[]>,
  ): AsyncGenerator<readonly Contact[], void, undefined> {
    for await (const batch of batches) {
      for (const contact of batch)
        if (contact.kind === 'contact' && readPastSendTime(contact.envelope) !== undefined) pastSendTimes++;
      onRead?.(batch.length);
      yield batch;
    }
  }

  await stageContacts(session, {
    contacts: fingerprint.watch(watch(prepared.contacts)),
    linesBefore,
    keyed: isKeyed(composition.identity),
    partsOf: ({ address, alternatives = [], ...contact }) => {
      if (!readSms) return null;
      let most = 0;
      for (const { envelope, destination } of [contact, ...alternatives])
        most = Math.max(most, readSms(envelope, { Recipient: address, ...destination }).parts);
      return most;
    },
    ...staging,
  });
  await stageSuppressions(session, suppressionLists.addresses);
  const origins = readsLedger
    ? await readOrigins(session, definition.campaign, prepared.origin, prepared.found().origins)
    : noOrigins;
  const placeOf = createPlaceFinder(contactFiles, linesBefore);
  // Own addresses of an operator get what they ask for.
  const caps = prepared.test ? { frequencyCaps: [] } : accountCaps(account, channel, now);
  return {
    rules: {
      chunkSize: dispatch.chunkSize,
      recipientColumn: composition.recipientColumn,
      identity: composition.identity,
      ...caps,
      frequencyCaps: [...notWithinCaps(definition, now), ...caps.frequencyCaps],
      contactFiles: contactFiles.map(({ name }, file) => ({ name, linesBefore: linesBefore(file) })),
      sourceRun: null,
      limit,
      origins: origins.runs,
      canary: prepared.test ? undefined : canaryRule(definition.campaign, definition),
      variants: variants && {
        control: test ? undefined : controlNumber(definition),
        hasRest: until !== undefined && winner === undefined,
      },
      window: windowPlanner(window, account.interface, now),
    },
    origins,
    fingerprint,
    pastSendTimes,
    placeOf,
    fileAndLine: createFileAndLineFormatter(contactFiles, placeOf),
  };
}
