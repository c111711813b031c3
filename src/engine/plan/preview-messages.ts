import type { Tariffs } from '../../campaign/tariffs.ts';
import { isKeyed } from '../../domain/contacts.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { countBidiControls } from './bidi-controls.ts';
import { createMessageReader } from './message-reader.ts';
import { createPartCauseCounter } from './part-causes.ts';
import { countPastSendTimes } from './past-send-times.ts';
import { createPlanCounts, type PlanCounts } from './plan-counts.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { Preview, PreviewedMessage } from './preview.ts';
import type { ValidContact } from './preview-rejections.ts';
import { countRemovedMarks } from './removed-marks.ts';
import type { RowChoice } from './row-choice.ts';
import { createRowValues } from './row-values.ts';
import { collectSentFields } from './sent-fields.ts';
import { createSmsReader } from './sms-text.ts';

const maxMessages = 3;

export type MessageCollector = {
  /** @param line counted over all files */
  readonly add: (contact: ValidContact, compared: string, line: number) => void;
  readonly counts: PlanCounts;
  readonly found: (
    windowTotals: readonly WindowTotals[],
  ) => Pick<
    Preview,
    'sentFields' | 'pastSendTimes' | 'bidiControls' | 'removedMarks' | 'partCauses' | 'messages'
  >;
};

export function createMessageCollector(
  prepared: PreparedCampaign,
  tariffs: Tariffs,
  fileAndLine: (line: number) => string,
  now: Date,
  rows?: RowChoice,
): MessageCollector {
  const { campaign, account, composition, contactFiles } = prepared;
  const { channel, message, window } = campaign.value;
  const counts = createPlanCounts(tariffs, isKeyed(composition.identity));
  const pastSendTimes = countPastSendTimes(message, now);
  const removedMarks = channel === 'email' ? undefined : countRemovedMarks();
  const bidiControls = countBidiControls();
  const planWindow = windowPlanner(window, account.interface, now);
  const sentFields = collectSentFields(composition.account, channel);
  const readValues = createRowValues(
    contactFiles.map(({ header }) => header),
    composition.derived,
  );
  const readSms = channel === 'sms' ? createSmsReader() : undefined;
  const partCauses = createPartCauseCounter(composition, readValues, tariffs);
  const readMessage = createMessageReader(prepared, now);
  const messages: PreviewedMessage[] = [];
  return {
    counts,
    add(contact, compared, line) {
      const { address, envelope } = contact;
      const destination = { Recipient: address, ...contact.destination };
      const sms = readSms?.(envelope, destination);
      counts.add({ ...contact, line, compared }, sms?.parts ?? null);
      if (sms) partCauses.add(contact, sms);
      const where = (): string => fileAndLine(line);
      sentFields.add(envelope, contact.destination);
      pastSendTimes.add(envelope, where);
      removedMarks?.add(contact.originalAddress, where);
      bidiControls.add(envelope, contact.destination, where);
      if (messages.length < maxMessages) messages.push(readMessage(contact, destination, sms));
      rows?.add(contact, destination, sms);
    },
    found(windowTotals) {
      for (const { zones } of windowTotals)
        sentFields.addFields(Object.keys((zones.length > 0 && planWindow?.(zones).handover?.fields) || {}));
      return {
        sentFields: sentFields.found(),
        pastSendTimes: pastSendTimes.found(),
        bidiControls: bidiControls.found(),
        removedMarks: removedMarks?.found() ?? { recipients: 0, marks: [], examples: [] },
        partCauses: readSms ? partCauses.found(now) : null,
        messages,
      };
    },
  };
}
