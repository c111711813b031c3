import type { Composition } from '../../campaign/composition.ts';
import type { Template } from '../../campaign/placeholders.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { variantName } from '../../campaign/variants.ts';
import type { Envelope, MessageFields } from '../../domain/message.ts';
import { memoize } from '../../platform/memoize.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { chooseRows, type RowChoice } from './row-choice.ts';
import { createRowValues } from './row-values.ts';
import { isGsmText } from './sms-parts.ts';
import { createSmsReader } from './sms-text.ts';

/**
 * So many rows are noted for each thing, of which the first that is sent is shown. Rows that are rejected are few, or follow
 * each other only at the beginning.
 */
const maxNoted = 100;

/** Different SubAccounts, or rates, of which a message each is shown. */
const maxOfEach = 6;

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/**
 * Chooses one row for each thing that goes wrong: first, longest, shortest, most parts, a fallback, an empty value, each
 * variant, SubAccount, rate and encoding, right-to-left text.
 *
 * @param isWanted whether the row of this number is chosen too
 */
export function chooseDifferingRows(
  prepared: PreparedCampaign,
  isWanted: (row: number) => boolean = () => false,
): RowChoice {
  const findNoted = createReasonFinder(prepared, maxNoted);
  const findShown = createReasonFinder(prepared, 1);
  return chooseRows(isWanted, {
    ofRead: ({ values = [], ...contact }) => findNoted({ ...contact, values, isFirst: true }),
    ofSent: (contact, { index }) => findShown({ ...contact, file: index, values: contact.row?.values ?? [] }),
  });
}

type Row = {
  readonly file: number;
  readonly values: readonly string[];
  readonly address: string;
  readonly destination: MessageFields;
  readonly envelope: Envelope;
  readonly variant?: number | null;
  /** Whether it may be the first that is sent. */
  readonly isFirst: boolean;
};

/** Finds why a row is among the first with something, or among those with the most. @param most so many of each */
function createReasonFinder(prepared: PreparedCampaign, most: number): (row: Row) => readonly string[] {
  const { account, campaign, messagesOf } = prepared;
  const { channel } = campaign.value;
  const { tariffIndexOf } = createTariffs(channel, account);
  const readSms = channel === 'sms' ? createSmsReader() : undefined;
  const readValues = createRowValues(prepared);
  const emptyValueFinder = memoize(createEmptyValueFinder);
  const counts = new Map<string, number>();
  const extremes = new Map<string, number[]>();
  const [subAccounts, rates] = [new Set<string>(), new Set<number>()];

  const isAmongFirst = (why: string): boolean => (counts.get(why) ?? 0) < most;
  const isAmongMost = (why: string, size: number): boolean => {
    const sizes = extremes.get(why) ?? [];
    extremes.set(why, sizes);
    if (sizes.length === most && size <= (sizes[0] ?? 0)) return false;
    if (sizes.length === most) sizes.shift();
    const place = sizes.findIndex((each) => each >= size);
    sizes.splice(place < 0 ? sizes.length : place, 0, size);
    return true;
  };
  const isAmongEach = <Key>(known: Set<Key>, key: Key): boolean =>
    known.has(key) || (known.size < maxOfEach * most && known.add(key).size > 0);

  return ({ file, values, address, destination, envelope, variant, isFirst }) => {
    const sms = readSms?.(envelope, { Recipient: address, ...destination });
    const text = sms?.text ?? contentOf(envelope);
    const found: string[] = [];
    const addFirst = (why: string, applies: () => boolean): void => {
      if (!isAmongFirst(why) || !applies()) return;
      counts.set(why, (counts.get(why) ?? 0) + 1);
      found.push(why);
    };
    const addMost = (why: string, size: number): void => {
      if (isAmongMost(why, size)) found.push(why);
    };
    const valueIn = readValues(file, values);
    const isEmptyIn = emptyValueFinder(messagesOf(variant ?? undefined)[0]);
    addFirst('first', () => isFirst);
    addMost('longest', text.length);
    addMost('shortest', -text.length);
    if (sms && sms.parts > 1) addMost('most parts', sms.parts);
    addFirst('fallback used', () => isEmptyIn(valueIn, true));
    addFirst('empty value', () => isEmptyIn(valueIn, false));
    if (sms) addFirst(isGsmText(sms.text) ? 'GSM-7' : 'UCS-2', () => true);
    addFirst('right to left', () => rightToLeft.test(text));
    const name = variantName(campaign.value, { variant });
    if (name !== null) addFirst(`variant ${name}`, () => true);
    const { SubAccount: subAccount } = envelope.fields;
    if (subAccount !== undefined)
      addFirst(`SubAccount ${subAccount}`, () => isAmongEach(subAccounts, subAccount));
    const tariff = tariffIndexOf?.(address) ?? 0;
    if (tariff > 0) addFirst(`rate ${tariff + 1}`, () => isAmongEach(rates, tariff));
    return found;
  };
}

const contentFields = ['EmailSubject', 'Message', 'MessagePlain', 'MessageHTML', 'MessageToPeople'];

function contentOf({ fields }: Envelope): string {
  return contentFields.map((name) => fields[name] ?? '').join('\n');
}

/** Whether a value that the message uses is empty, with or without a fallback. */
function createEmptyValueFinder({
  fields,
  serviceText,
}: Composition): (valueIn: (column: string) => string, hasFallback: boolean) => boolean {
  const templates: readonly Template[] = [
    ...fields.filter(({ definition }) => definition !== serviceText?.definition).map((each) => each.template),
    serviceText?.template ?? [],
  ];
  const used = templates.flat().flatMap((segment) => (segment.kind === 'column' ? [segment] : []));
  return (valueIn, hasFallback) =>
    used.some(({ column, fallback }) => (fallback !== '') === hasFallback && valueIn(column) === '');
}
