import type { Definition } from '../../campaign/definition.ts';
import type { Channel } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import type { Decided, FrequencyCap, PlanRules } from '../../ledger/planning/planned-run.ts';
import { count } from '../../platform/sentence.ts';
import { startOfDay } from '../../platform/zoned-times.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

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

/**
 * Refuses a part of the rest of variants: no later run would send to the recipients that do not fit into the day.
 *
 * @throws InputError
 */
export function refusePartOfRest(
  { account }: Pick<PreparedCampaign, 'account'>,
  { recipients, capped }: Pick<Decided, 'recipients' | 'capped'>,
): void {
  for (const { rows, detail } of capped) {
    if (detail.kind !== 'over_daily_limit') continue;
    const what = `The rest has ${count(recipients + rows, 'recipient')}, but only ${recipients.toLocaleString('en')} more fit into the ${detail.most.toLocaleString('en')} of the day. It is sent on a day on which all fit, or when the limit is raised.`;
    throw new InputError([{ where: `account ${account.name}, limits.recipientsPerDay`, what }]);
  }
}
