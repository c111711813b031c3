import { formatSuppressionReason } from '../../domain/rejected-contacts.ts';
import { type Suppression, type SuppressionSource, suppressionSources } from '../../domain/suppressions.ts';
import { columnsOf, textColumn, timeColumn, wordsColumn } from '../column.ts';
import { addressColumn } from './usual.ts';

const sourceWords: Readonly<Record<SuppressionSource, string>> = {
  operator: 'an operator',
  import: 'an imported list',
  reply: 'the recipient, by reply',
  report: 'the service, by a delivery report',
};

/** Suppressions. With `--csv` it is the list that `volley suppress import` reads, known by `suppressionListColumns`: empty means all. */
export const suppressionColumns = columnsOf<Suppression>()([
  textColumn('channel', 'Channel'),
  {
    ...addressColumn,
    target: ({ address }) => (address.startsWith('hash ') ? null : { kind: 'recipient', recipient: address }),
  },
  textColumn('account', 'Account', ({ account = '' }) => account, {
    shown: ({ account }) => account || '(all)',
    json: ({ account }) => account,
  }),
  textColumn('subAccount', 'SubAccount', ({ subAccount }) => subAccount, {
    shown: ({ subAccount, ofOneSubAccount }) => subAccount || (ofOneSubAccount ? '(one)' : '(all)'),
  }),
  textColumn('source', 'Source', ({ source }) => source, {
    values: suppressionSources,
    shown: ({ source }) => sourceWords[source],
  }),
  timeColumn('createdAt', 'Since'),
  wordsColumn(
    'reason',
    'Reason',
    ({ run = null, ...suppression }) => formatSuppressionReason({ ...suppression, run }),
    { target: ({ run }) => (run ? { kind: 'run', run } : null) },
  ),
  textColumn('by', 'By', ({ by = null }) => by, { only: ['screen', 'page', 'json'], minor: 1 }),
]);
