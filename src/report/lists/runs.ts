import { channels } from '../../domain/message.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import { runKinds, runStates } from '../../domain/runs.ts';
import type { RunWait } from '../../domain/waits.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { type Columns, stateColumn, textColumn, timeColumn, wordsColumn } from '../column.ts';
import { formatCampaign } from '../run-summary.ts';
import { shortWait } from '../wait-words.ts';
import { accountColumn, campaignColumn, runColumn } from './usual.ts';

/** With what it waits for, if that was read. */
type RunOfList = ListedRun & { readonly waits?: readonly RunWait[] };

const reasonOf = ({ stateReason }: ListedRun): string | null => formatReasonOrNull(stateReason);

/** `volley runs`, `listRuns` of the API, and the pages that list runs of an account or a campaign. */
export const runColumns: Columns<RunOfList> = [
  runColumn,
  { ...campaignColumn, shown: formatCampaign },
  textColumn('kind', 'Kind', {
    only: ['json'],
    values: runKinds,
    about: '`test`: rows of the contact files, sent to addresses of the operator.',
  }),
  { ...accountColumn, only: ['json'] },
  textColumn('channel', 'Channel', { values: channels, minor: 1 }),
  stateColumn('state', 'State', ({ state }) => state, {
    values: runStates,
    note: (run) => reasonOf(run) ?? shortWait(run.waits ?? []) ?? null,
  }),
  wordsColumn('reason', 'Reason', reasonOf, {
    only: ['json'],
    nullable: true,
    about: 'The reason of its state, if there is one.',
  }),
  timeColumn('createdAt', 'Planned'),
  timeColumn('finishedAt', 'Finished', {
    only: ['page', 'json'],
    nullable: true,
  }),
];
