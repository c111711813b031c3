import { channels } from '../../domain/message.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import { runKinds, runStates } from '../../domain/runs.ts';
import type { RunWait } from '../../domain/waits.ts';
import type { ListedRun, ListFigures, RunWithOutcome } from '../../ledger/runs/find.ts';
import type { DispatchProgress } from '../../ledger/slices/progress.ts';
import {
  columnsOf,
  decimalColumn,
  integerColumn,
  stateColumn,
  textColumn,
  timeColumn,
  wordsColumn,
} from '../column.ts';
import { deliveredShare, runStateWords } from '../run/run-outcome.ts';
import { formatCampaign } from '../run/run-summary.ts';
import { shortWait } from '../wait-words.ts';
import { accountColumn, campaignColumn, runColumn } from './usual.ts';

/** A run with what it waits for, if that was read. */
type RunOfList = RunWithOutcome & { readonly waits?: readonly RunWait[] };

/** What the document of the API says of a run. */
export const runAbout = {
  kind: '`test`: rows of the contact files, sent to addresses of the operator.',
  reason: 'The reason of its state, if there is one.',
  deliveredShare: 'Percentage of the accepted recipients that is delivered; null where none was accepted.',
} as const;

const reasonOf = ({ stateReason }: ListedRun): string | null => formatReasonOrNull(stateReason);

/** `volley runs` and `listRuns` of the API. Pages that list runs pick some of the columns. */
export const runColumns = columnsOf<RunOfList>()([
  runColumn,
  { ...campaignColumn, shown: formatCampaign },
  textColumn('kind', 'Kind', {
    only: ['json'],
    values: runKinds,
    about: runAbout.kind,
  }),
  { ...accountColumn, only: ['json'] },
  textColumn('channel', 'Channel', { values: channels, minor: 1 }),
  stateColumn('state', 'State', ({ state }) => state, {
    values: runStates,
    shown: ({ state, outcome }) => runStateWords(state, outcome.unknown),
    note: (run) => reasonOf(run) ?? shortWait(run.waits ?? []),
  }),
  wordsColumn('reason', 'Reason', reasonOf, {
    only: ['json'],
    nullable: true,
    about: runAbout.reason,
  }),
  decimalColumn('deliveredShare', 'Delivered %', ({ outcome }) => deliveredShare(outcome), {
    nullable: true,
    about: runAbout.deliveredShare,
    minor: 2,
  }),
  timeColumn('createdAt', 'Planned'),
  timeColumn('finishedAt', 'Finished', {
    only: ['page', 'json'],
    nullable: true,
  }),
]);

/** A run as it is now, as far as the list shows it. */
type RunFigures = {
  readonly progress: Pick<DispatchProgress, 'settled' | 'total' | 'notAccepted' | 'counts'>;
  readonly figures: Pick<ListFigures, 'cost' | 'currency'>;
};

/** What the page of all runs shows besides. It follows the runs while they are sent. */
export const runFigureColumns = columnsOf<RunFigures>()([
  textColumn('sent', 'Sent', ({ progress: { settled, total } }) => `${settled} of ${total}`),
  integerColumn(
    'notAccepted',
    'Not accepted',
    ({ progress: { notAccepted, counts } }) => notAccepted - counts.requests.in_doubt,
  ),
  integerColumn('inDoubt', 'In doubt', ({ progress }) => progress.counts.requests.in_doubt),
  integerColumn('cost', 'Cost so far', costOf),
]);

/** What delivery reports say, or the estimate until they come; null without rates, or before anything is booked. */
export function costOf({ figures: { cost, currency } }: Pick<RunFigures, 'figures'>): string | null {
  if (cost === null || currency === null) return null;
  return /^0(\.0*)?$/.test(cost.price) ? cost.estimated : cost.price;
}
