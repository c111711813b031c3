import { asPlaceholder } from '../campaign/placeholders.ts';
import type { Contact, ContactFindings } from '../domain/contacts.ts';
import type { Channel } from '../domain/message.ts';
import { numberAfterZeros, parseNumberWithoutPlus } from '../platform/phone-countries.ts';
import { count } from '../platform/sentence.ts';
import type { RowWatch } from './read-contacts.ts';

type ContactTally = {
  /** For `readContacts`. */
  readonly watch: RowWatch;
  readonly count: (contacts: AsyncIterable<readonly Contact[]>) => AsyncIterable<readonly Contact[]>;
  readonly findings: () => ContactFindings;
};

const shownExamples = 3;
const shownCauses = 3;
const shownCodes = 2;
const shownPlaces = 3;

const written = new Intl.NumberFormat('en');

/** A format can show zeros, or a plus sign, before a number. */
const withoutZeros = /^[1-9]\d*$/;

const dateWords = ['a date, as spreadsheets make of codes', 'dates, as spreadsheets make of codes'] as const;
const numberWords = [
  'a number, which has lost any zeros before it',
  'numbers, which have lost any zeros before them',
] as const;

/** @param placeOf the line of a contact file, by its index, in errors */
export function createContactTally(
  channel: Channel,
  recipientColumn: string,
  placeOf: (file: number, line: number, column: string) => string,
): ContactTally {
  const counts = { read: 0, filtered: 0, invalid: 0 };
  const addresses = { empty: 0, withZeros: 0, withoutCountry: 0, wrong: 0 };
  const origins = new Set<string>();
  const invalidByColumn = createCounter();
  const byCallingCode = createCounter();
  const [cells, dates, numbers] = [createCounter(), createCounter(1), createCounter(1)];
  const emptyValues = createCounter(shownPlaces);
  const examples: ContactFindings['examples'][number][] = [];

  const causes = (): string[] => {
    const ofAddresses = Object.values(addresses).reduce((sum, rows) => sum + rows);
    const others = [...invalidByColumn.counts].map(([column, { rows }]): [number, string] => {
      const rest = column === recipientColumn ? rows - ofAddresses : rows;
      return [rest, column === '' ? 'cannot be read as rows' : `because of "${column}"`];
    });
    const main = [...addressCauses(addresses, channel, recipientColumn), ...others];
    const codes = [...byCallingCode.counts].map(([code, { rows }]): [number, string] => [
      rows,
      `beginning with ${code}`,
    ]);
    const shown = [...commonest(main, shownCauses), ...commonest(codes, shownCodes)];
    return shown.map(([rows, what]) => `${written.format(rows)} ${what}`);
  };

  return {
    watch: {
      onCell: ({ file, line, column, text, note }) => {
        cells.add(column);
        const place = (): string => placeOf(file, line, column);
        if (note?.kind === 'date') dates.add(column, place);
        else if (note?.kind === 'number' && withoutZeros.test(text)) numbers.add(column, place);
      },
      onEmptyValue: (file, line, column) => emptyValues.add(column, () => placeOf(file, line, column)),
      onFiltered: () => {
        counts.filtered++;
      },
      onOrigin: (run) => {
        origins.add(run);
      },
      onWrongAddress: (text, country) => {
        const given = text.trim();
        const cause = causeOf(given, channel, country);
        addresses[cause]++;
        const isRead = channel === 'email' || cause === 'withZeros';
        const full = isRead ? undefined : parseNumberWithoutPlus(given);
        if (!full) return;
        const whose = full.country === undefined ? '' : `, the calling code of ${full.country}`;
        byCallingCode.add(`${full.callingCode}${whose}`);
      },
    },
    async *count(contacts) {
      for await (const batch of contacts) {
        counts.read += batch.length;
        for (const contact of batch) {
          if (contact.kind !== 'rejected') continue;
          const { file, line, column, detail } = contact;
          counts.invalid++;
          invalidByColumn.add(column);
          if (examples.length < shownExamples) examples.push({ where: placeOf(file, line, column), detail });
        }
        yield batch;
      }
    },
    findings: () => ({
      ...counts,
      empty: addresses.empty,
      causes: causes(),
      examples,
      origins,
      // A spreadsheet makes dates of some codes, and numbers without their zeros.
      warnings: [
        ...[...cells.counts].flatMap(([column, { rows }]) => [
          ...fewOf(column, rows, dates, dateWords),
          ...fewOf(column, rows, numbers, numberWords),
        ]),
        ...[...emptyValues.counts].map(formatGap),
      ],
    }),
  };
}

type WrongAddresses = Readonly<Record<ReturnType<typeof causeOf>, number>>;

function addressCauses(wrong: WrongAddresses, channel: Channel, column: string): [number, string][] {
  const kind = channel === 'email' ? 'e-mail address' : 'phone number';
  return [
    [wrong.withoutCountry, `without a country code, and the campaign sets no "contacts.country"`],
    [wrong.withZeros, 'beginning with 00 instead of +, which is not how their country dials abroad'],
    [wrong.empty, `with an empty "${column}"`],
    [wrong.wrong, `with an invalid ${kind} in "${column}"`],
  ];
}

function causeOf(given: string, channel: Channel, country: string | undefined) {
  if (given === '') return 'empty';
  if (channel === 'email') return 'wrong';
  if (numberAfterZeros(given) !== undefined) return 'withZeros';
  return country === undefined && !given.startsWith('+') ? 'withoutCountry' : 'wrong';
}

type Count = { rows: number; readonly places: string[] };

/** Counts by key, in the order of first occurrence, and keeps where the first ones stand. */
function createCounter(maxPlaces = 0) {
  const counts = new Map<string, Count>();
  return {
    counts,
    add: (key: string, placeOf = (): string => ''): void => {
      const found = counts.get(key) ?? { rows: 0, places: [] };
      counts.set(key, found);
      found.rows++;
      if (found.places.length < maxPlaces) found.places.push(placeOf());
    },
  };
}

/** The cells of a column that are of another kind than most. */
function fewOf(
  column: string,
  cells: number,
  { counts }: ReturnType<typeof createCounter>,
  [one, several]: readonly [string, string],
): string[] {
  const { rows = 0, places = [] } = counts.get(column) ?? {};
  if (rows === 0 || rows * 2 > cells) return [];
  const what = rows === 1 ? `is ${one}` : `are ${several}`;
  return [
    `${written.format(rows)} of ${written.format(cells)} cells of "${column}" ${what}; see ${places.join()}`,
  ];
}

/** The text would have a gap. Such rows are sent, because an empty value can be meant. */
function formatGap([column, { rows, places }]: readonly [string, Count]): string {
  return `${asPlaceholder(column)} is empty and has no fallback in ${count(rows, 'row')}: ${places.join(', ')}${rows > places.length ? ' …' : ''}. The text has a gap there; [[${column}|fallback]] fills it`;
}

function commonest(causes: readonly [number, string][], limit: number): [number, string][] {
  return causes
    .filter(([rows]) => rows > 0)
    .toSorted(([one], [other]) => other - one)
    .slice(0, limit);
}
