import type { PlanRules } from '../../ledger/planning/planned-run.ts';
import {
  type FieldNames,
  findSentFields,
  listFirstSent,
  streamNotes,
} from '../../ledger/planning/read-decided.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import type { Transaction } from '../../ledger/session.ts';
import { countBidiControls } from './bidi-controls.ts';
import { createMessageReader } from './message-reader.ts';
import { countPartCauses } from './part-causes.ts';
import { countPastSendTimes } from './past-send-times.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { Preview } from './preview.ts';
import { countRemovedMarks } from './removed-marks.ts';
import { orderFields } from './sent-fields.ts';
import type { StagedCampaign } from './stage-campaign.ts';

const maxMessages = 3;

export type DecidedCampaign = {
  readonly prepared: PreparedCampaign;
  readonly now: Date;
  readonly staged: StagedCampaign;
  readonly rules: PlanRules;
  /** Fields that contacts have, also contacts that are left out. */
  readonly fields: FieldNames;
};

/** Reads what a plan shows of the contacts that are sent. */
export async function readPreviewedContacts(
  client: Transaction,
  { prepared, now, staged, rules, fields }: DecidedCampaign,
  windowTotals: readonly WindowTotals[],
): Promise<
  Pick<Preview, 'sentFields' | 'pastSendTimes' | 'bidiControls' | 'removedMarks' | 'partCauses' | 'messages'>
> {
  const [removedMarks, bidiControls] = [countRemovedMarks(), countBidiControls()];
  const [pastSendTimes, partCauses] = [countPastSendTimes(), countPartCauses()];
  for await (const batch of streamNotes(client)) {
    for (const { line, tariffIndex, note } of batch) {
      const where = (): string => staged.fileAndLine(line);
      if (note.removed) removedMarks.add(note.removed, where);
      if (note.bidiControls) bidiControls.add(note.bidiControls, where);
      if (note.pastSendTime !== undefined) pastSendTimes.add(note.pastSendTime, where);
      if (note.costly) partCauses.add(note.costly, tariffIndex ?? 0);
    }
  }
  const readMessage = createMessageReader(prepared, now);
  const sent = await findSentFields(client, fields);
  const ofWindows = windowTotals.flatMap(({ zones }) =>
    Object.keys((zones.length > 0 && rules.window?.(zones).handover?.fields) || {}),
  );
  return {
    sentFields: orderFields(prepared.composition.account, rules.channel, {
      ...sent,
      request: [...sent.request, ...ofWindows],
    }),
    pastSendTimes: pastSendTimes.found(),
    bidiControls: bidiControls.found(),
    removedMarks: removedMarks.found(),
    partCauses: rules.channel === 'sms' ? partCauses.found(rules.rates, now) : null,
    messages: (await listFirstSent(client, maxMessages)).map((contact) =>
      readMessage(contact, staged.placeOf(contact.line)),
    ),
  };
}
