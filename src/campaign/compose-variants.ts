import { restNumber } from '../domain/contacts.ts';
import { InputError } from '../domain/problems.ts';
import type { Campaign } from './campaign.ts';
import { type Composition, compose } from './composition.ts';
import type { SendingAccount } from './sending-account.ts';
import { type AssignVariant, sentVariants } from './variants.ts';

/** A campaign compiled against the header of its contact files, once for each variant that is sent. */
export type ComposedVariants = {
  /** What all variants have in common, and the columns of each. Of the message, that of the first one. */
  readonly composition: Composition;
  /** Undefined: the campaign has no variants, so every contact is the same. */
  readonly assign: AssignVariant | undefined;
  /**
   * The messages of a contact by the number of its variant. A contact of the rest has that of each variant, because each
   * may win; one of the control group has the first.
   */
  readonly messagesOf: (number: number | undefined) => readonly [Composition, ...Composition[]];
};

/** @throws InputError with the missing columns and faulty placeholders of all variants */
export function composeVariants(
  campaign: Campaign,
  account: SendingAccount,
  header: readonly string[],
  assign?: AssignVariant,
): ComposedVariants {
  const sent = sentVariants(campaign);
  const composed = collectProblems(sent, (each) => compose(each.campaign, account, header));
  const [first, ...others] = composed;
  if (first === undefined) throw new Error('A campaign that was checked sends something.');
  const all = [first, ...others] as const;
  const union = (columns: (each: Composition) => readonly string[]) => [...new Set(all.flatMap(columns))];
  const only = new Map(composed.map((each, index) => [sent[index]?.number, [each] as const] as const));
  return {
    composition: {
      ...first,
      usedColumns: union(({ usedColumns }) => usedColumns),
      requiredColumns: union(({ requiredColumns }) => requiredColumns),
      columnsInText: union(({ columnsInText }) => columnsInText),
    },
    assign,
    messagesOf: (number) => (number === restNumber ? all : (only.get(number) ?? [first])),
  };
}

function collectProblems<Item, Result>(items: readonly Item[], work: (item: Item) => Result): Result[] {
  const problems = new Map<string, InputError['problems'][number]>();
  const results = items.flatMap((item) => {
    try {
      return [work(item)];
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      for (const problem of error.problems) problems.set(JSON.stringify(problem), problem);
      return [];
    }
  });
  if (problems.size > 0) throw new InputError([...problems.values()]);
  return results;
}
