import { decisionKinds } from '../../domain/decisions.ts';
import type { RecordedDecision } from '../../ledger/watch/decisions.ts';
import { columnsOf, stateColumn, textColumn, timeColumn, wordsColumn } from '../column.ts';

/** What was decided about a run that is watched. */
export const decisionColumns = columnsOf<RecordedDecision>()([
  timeColumn('decidedAt', 'At'),
  stateColumn('kind', 'Decision', { values: decisionKinds }),
  textColumn('byUser', 'By', {
    nullable: true,
    shown: ({ byUser }) => byUser ?? 'Volley',
    about: 'The operator who decided; null: Volley.',
  }),
  wordsColumn('reason', 'Reason', { nullable: true, about: 'The words of the operator.' }),
  wordsColumn('why', 'Why', { about: 'The counts, the test with its limits, and how often it errs.' }),
  wordsColumn('record', 'Record', () => null, {
    json: ({ record }) => record,
    only: ['json'],
    about: 'The same in numbers.',
  }),
]);
