import { channels } from '../../domain/message.ts';
import { runKinds, runStates } from '../../domain/runs.ts';
import type { RunFilter } from '../../ledger/runs/find.ts';
import { dayIn } from '../base/days.ts';
import type { Fields } from '../base/fields.ts';
import type { View } from '../base/view.ts';
import { type Asked, type Filter, periodOf, readAsked } from '../parts/filter.ts';

/** What a person asks the list of runs. */
export const runFilter: Filter = {
  path: '/',
  title: 'Find runs',
  place: 'before',
  fields: [
    { name: 'q', label: 'Run or campaign', kind: 'text' },
    { name: 'state', label: 'State', kind: 'choice', values: runStates },
    { name: 'channel', label: 'Channel', kind: 'choice', values: channels },
    { name: 'kind', label: 'Kind', kind: 'choice', values: runKinds },
    { name: 'account', label: 'Account', kind: 'text' },
    { name: 'from', label: 'Planned from', kind: 'day' },
    { name: 'to', label: 'Until', kind: 'day' },
    { name: 'campaign', label: 'Campaign', kind: 'hidden' },
  ],
};

/** A wrong day is not asked: a kept address goes on showing runs. */
export function askedOfRuns(query: Fields): Asked {
  const { from = '', to = '', ...asked } = readAsked(runFilter, query);
  return { ...asked, ...(dayIn(from) !== '' && { from }), ...(dayIn(to) !== '' && { to }) };
}

/** @throws InputError for a day that is none */
export function toRunFilter(
  asked: Asked,
  { session: { accounts }, zone }: Pick<View, 'session' | 'zone'>,
): RunFilter {
  const { q: search, account, campaign, before = '' } = asked;
  const period = periodOf(asked, ['from', 'to'], zone);
  const [, time = '', run = ''] = /^([\dT:.Z-]{20,30}) ([\w-]{1,64})$/.exec(before) ?? [];
  const createdAt = new Date(time);
  return {
    plannedFrom: period.from,
    plannedBefore: period.before,
    accounts,
    search,
    state: runStates.find((state) => state === asked['state']),
    channel: channels.find((channel) => channel === asked['channel']),
    kind: runKinds.find((kind) => kind === asked['kind']),
    account,
    campaign,
    before: run === '' || Number.isNaN(createdAt.getTime()) ? undefined : { createdAt, run },
  };
}
