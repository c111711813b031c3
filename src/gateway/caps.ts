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

/** Reports channels that the account does not have. */
export function checkChannels(
  { interface: name, frequency: own }: WrittenAccount,
  context: z.core.$RefinementCtx<unknown>,
): void {
  const known = channelsOf(name);
  for (const [index, channel] of (own?.over ?? []).entries()) {
    if (known.includes(channel)) continue;
    const message = `expected a channel of the account: ${known.join(', ')}`;
    context.addIssue({ code: 'custom', path: ['frequency', 'over', index], message });
  }
}
