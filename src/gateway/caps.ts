import { z } from 'zod';
import type { Caps, Frequency } from '../domain/caps.ts';
import { channels, type InterfaceName } from '../domain/message.ts';
import { duration, requiredNumber } from '../platform/scalars.ts';
import { channelsOf } from '../wire/fields.ts';

/** Records of runs may be deleted after so many days (`volley purge --records-older-than`). */
const mostDays = 366;

export function frequency(whose: string) {
  return z
    .strictObject({
      most: requiredNumber(1, 1_000).describe('How many messages, also those that runs will send.'),
      within: duration
        .refine((milliseconds) => milliseconds >= 1_000 && milliseconds <= mostDays * 86_400_000, {
          error: `expected a duration from 1s to ${mostDays}d, such as 7d: older records may be deleted`,
        })
        .describe('In any period of this length, such as 7d.'),
      over: z
        .array(z.enum(channels))
        .min(1, 'expected at least one channel')
        .optional()
        .describe('The channels that it counts and limits, such as [sms, email]; by default all.'),
    })
    .optional()
    .describe(`The most messages that an address gets from ${whose}. Other contacts are left out.`);
}

type Written = z.output<ReturnType<typeof frequency>>;

type WrittenAccount = {
  readonly interface: InterfaceName;
  readonly limits: { readonly recipientsPerDay?: number | undefined };
  readonly frequency?: Written;
};

type WrittenFile = {
  readonly accounts: Readonly<Record<string, WrittenAccount>>;
  readonly frequency?: Written;
};

/** The caps of an account, with those of the project. */
export function capsOf({ limits, frequency: own }: WrittenAccount, ofProject: Written): Caps {
  return {
    frequency: [...frequencyOf('account', own), ...frequencyOf('project', ofProject)],
    recipientsPerDay: limits.recipientsPerDay ?? null,
  };
}

function frequencyOf(of: Frequency['of'], written: Written): Frequency[] {
  if (written === undefined) return [];
  const { most, within, over = channels } = written;
  return [{ of, most, milliseconds: within, over }];
}

/** Reports channels that the account, or all accounts of the project, do not have. */
export function checkChannels(
  { accounts, frequency: ofProject }: WrittenFile,
  context: z.core.$RefinementCtx<unknown>,
): void {
  const check = (written: Written, interfaces: readonly InterfaceName[], path: readonly string[]): void => {
    const known = channels.filter((channel) => interfaces.some((name) => channelsOf(name).includes(channel)));
    for (const [index, channel] of (written?.over ?? []).entries()) {
      if (known.includes(channel)) continue;
      const message = `expected a channel of ${path.length > 1 ? 'the account' : 'an account of this file'}: ${known.join(', ')}`;
      context.addIssue({ code: 'custom', path: [...path, 'over', index], message });
    }
  };
  for (const [name, account] of Object.entries(accounts))
    check(account.frequency, [account.interface], ['accounts', name, 'frequency']);
  check(
    ofProject,
    Object.values(accounts).map((account) => account.interface),
    ['frequency'],
  );
}
