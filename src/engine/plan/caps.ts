import type { Definition } from '../../campaign/definition.ts';
import type { Channel } from '../../domain/message.ts';
import type { Account } from '../../gateway/account.ts';
import type { FrequencyCap, PlanRules } from '../../ledger/planning/planned-run.ts';
import { startOfDay } from '../../platform/zoned-times.ts';

type CapRules = Pick<PlanRules, 'frequencyCaps' | 'dailyLimit'>;

/** What the account may send in the channel, over all campaigns. */
export function accountCaps({ name, caps, ratesTimeZone }: Account, channel: Channel, now: Date): CapRules {
  if (caps === undefined) return { frequencyCaps: [] };
  const { frequency, recipientsPerDay } = caps;
  // A phone number gets calls, texts and faxes. It is never an e-mail address.
  const isComparable = (other: Channel): boolean => (other === 'email') === (channel === 'email');
  return {
    frequencyCaps: frequency
      .filter(({ over }) => over.includes(channel))
      .map(({ of, most, milliseconds, over }) => ({
        kind: 'over_frequency',
        of,
        campaign: null,
        account: of === 'account' ? name : null,
        channels: over.filter(isComparable),
        most,
        since: new Date(now.getTime() - milliseconds),
        milliseconds,
      })),
    dailyLimit:
      recipientsPerDay === null
        ? undefined
        : { most: recipientsPerDay, since: startOfDay(now, ratesTimeZone) },
  };
}

/** `contacts.notWithin` of a campaign. */
export function notWithinCaps({ campaign, channel, contacts }: Definition, now: Date): FrequencyCap[] {
  if (contacts.notWithin === undefined) return [];
  const { milliseconds, by } = contacts.notWithin;
  return [
    {
      kind: 'sent_recently',
      campaign: by === 'campaign' ? campaign : null,
      account: null,
      channels: [channel],
      most: 1,
      since: new Date(now.getTime() - milliseconds),
      milliseconds,
    },
  ];
}
