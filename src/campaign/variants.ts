import { hash } from 'node:crypto';
import type { YamlFile } from '../platform/yaml.ts';
import type { Definition } from './definition.ts';

/** As in `campaign.ts`, which checks each variant. */
type Campaign = YamlFile<Definition>;

/** A variant that is sent, as a campaign of its own. */
export type SentVariant = {
  /** In the order of the campaign, from 1; undefined: the campaign has no variants. */
  readonly number: number | undefined;
  readonly campaign: Campaign;
};

/** The campaign once for each variant that sends something, with the message of the variant. */
export function sentVariants(campaign: Campaign): readonly SentVariant[] {
  const { value, locate } = campaign;
  if (!value.variants) return [{ number: undefined, campaign }];
  return value.variants.flatMap(({ message = {}, send }, index): SentVariant[] => {
    if (send === 'nothing') return [];
    const isOwn = ([first, key]: Parameters<typeof locate>[0]): boolean =>
      first === 'message' && (key === undefined || Object.hasOwn(message, key));
    return [
      {
        number: index + 1,
        campaign: {
          value: { ...value, message: { ...value.message, ...message } },
          locate: (path) => locate(isOwn(path) ? ['variants', index, ...path] : path),
        },
      },
    ];
  });
}

/** The name of a contact's variant; null: it has none. */
export function variantName(
  { variants = [] }: { readonly variants?: readonly { readonly name: string }[] | undefined },
  { variant }: { readonly variant?: number | null | undefined },
): string | null {
  return variants[(variant ?? 0) - 1]?.name ?? null;
}

/** The number of the control group; undefined: there is none. */
export function controlNumber({ variants = [] }: Pick<Definition, 'variants'>): number | undefined {
  return variants.flatMap(({ send }, index) => (send === 'nothing' ? [index + 1] : []))[0];
}

/** Shares have at most three decimals of a percent. */
const parts = 100_000;

export function inParts(share: number): number {
  return Math.round(share * parts);
}

/** Finds the number of a contact's variant, or `restNumber`. @param contact its compared address, or its key */
export type AssignVariant = (contact: string) => number;

const hashDigits = 12;

/**
 * Assigns contacts by a hash of campaign and contact, with the shares as thresholds. So a contact has the same variant in
 * each run, whatever the texts and the other contacts are.
 *
 * @param winner the variant that all get who are not in the control group
 * @returns undefined for a campaign without variants
 */
export function assignByHash(
  { campaign, variants }: Pick<Definition, 'campaign' | 'variants'>,
  winner?: number,
): AssignVariant | undefined {
  if (!variants) return undefined;
  let sum = 0;
  const thresholds = variants.map(({ share }) => (sum += inParts(share)));
  const control = controlNumber({ variants });
  return (contact) => {
    const digits = hash('sha256', `${campaign}\0${contact}`, 'hex').slice(0, hashDigits);
    const place = (Number.parseInt(digits, 16) / 16 ** hashDigits) * parts;
    const number = thresholds.findIndex((threshold) => place < threshold) + 1;
    return winner === undefined || number === control ? number : winner;
  };
}

/** Assigns the rows of a test: in turn, so that a few rows show each variant; a row that was chosen gets its own. */
export function assignForTest(campaign: Campaign, isRowChosen: boolean): AssignVariant | undefined {
  const numbers = sentVariants(campaign).flatMap(({ number }) => number ?? []);
  const [first] = numbers;
  const assign = assignByHash(campaign.value);
  if (first === undefined || !assign) return undefined;
  let next = 0;
  return (contact) => {
    const number = isRowChosen ? assign(contact) : numbers[next++ % numbers.length];
    return number !== undefined && numbers.includes(number) ? number : first;
  };
}
