import { asPlaceholder } from '../campaign/placeholders.ts';
import type { Contact, ContactFindings } from '../domain/contacts.ts';
import type { Channel } from '../domain/message.ts';
import { numberAfterZeros, parseNumberWithoutPlus } from '../platform/phone-countries.ts';
import { createMixedCells } from './mixed-cells.ts';
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

const written = new Intl.NumberFormat('en');

/** @param placeOf the line of a contact file, by its index, in errors */
export function createContactTally(
  channel: Channel,
  recipientColumn: string,
  placeOf: (file: number, line: number, column: string) => string,
): ContactTally {
  const counts = { read: 0, filtered: 0, invalid: 0 };
  const addresses = { empty: 0, withZeros: 0, withoutCountry: 0, wrong: 0 };
  const origins = new Set<string>();
  const byColumn = new Map<string, number>();
  const byCallingCode = new Map<string, number>();
  const mixed = createMixedCells(placeOf);
  const emptyValues = createEmptyValues(placeOf);
  const examples: ContactFindings['examples'][number][] = [];

  const kind = channel === 'email' ? 'e-mail address' : 'phone number';
  const causes = (): string[] => {
    const ofAddresses = addresses.empty + addresses.withZeros + addresses.withoutCountry + addresses.wrong;
    const others = [...byColumn].map(([column, rows]): [number, string] => {
      const rest = column === recipientColumn ? rows - ofAddresses : rows;
      return [rest, column === '' ? 'cannot be read as rows' : `because of "${column}"`];
    });
    const main: [number, string][] = [
      [addresses.withoutCountry, `without a country code, and the campaign sets no "contacts.country"`],
      [addresses.withZeros, 'beginning with 00 instead of +, which is not how their country dials abroad'],
      [addresses.empty, `with an empty "${recipientColumn}"`],
      [addresses.wrong, `with an invalid ${kind} in "${recipientColumn}"`],
      ...others,
    ];
    const codes = [...byCallingCode].map(([code, rows]): [number, string] => [
      rows,
      `beginning with ${code}`,
    ]);
    const shown = [...commonest(main, shownCauses), ...commonest(codes, shownCodes)];
    return shown.map(([rows, what]) => `${written.format(rows)} ${what}`);
  };

  return {
    watch: {
      onCell: mixed.add,
      onEmptyValue: emptyValues.add,
      onFiltered: () => {
        counts.filtered++;
      },
      onOrigin: (run) => {
        origins.add(run);
      },
      onWrongAddress: (text, country) => {
        const given = text.trim();
        if (given === '') addresses.empty++;
        else if (channel !== 'email' && numberAfterZeros(given) !== undefined) {
          addresses.withZeros++;
          return;
        } else if (channel !== 'email' && country === undefined && !given.startsWith('+'))
          addresses.withoutCountry++;
        else addresses.wrong++;
        const full = channel === 'email' ? undefined : parseNumberWithoutPlus(given);
        if (!full) return;
        const whose = full.country === undefined ? '' : `, the calling code of ${full.country}`;
        add(byCallingCode, `${full.callingCode}${whose}`);
      },
    },
    async *count(contacts) {
      for await (const batch of contacts) {
        counts.read += batch.length;
        for (const contact of batch) {
          if (contact.kind !== 'rejected') continue;
          const { file, line, column, detail } = contact;
          counts.invalid++;
          add(byColumn, column);
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
      warnings: [...mixed.findings(), ...emptyValues.findings()],
    }),
  };
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function commonest(causes: readonly [number, string][], limit: number): [number, string][] {
  return causes
    .filter(([rows]) => rows > 0)
    .toSorted(([one], [other]) => other - one)
    .slice(0, limit);
}

type EmptyValues = {
  readonly add: (file: number, line: number, column: string) => void;
  /** A sentence without a full stop for each column. */
  readonly findings: () => readonly string[];
};

const shownPlaces = 3;

/**
 * Counts the rows whose text would have a gap. They are sent, because an empty value can be meant.
 *
 * @param placeOf the line of a contact file, by its index
 */
function createEmptyValues(placeOf: (file: number, line: number, column: string) => string): EmptyValues {
  const found = new Map<string, { rows: number; readonly places: string[] }>();
  return {
    add: (file, line, column) => {
      const ofColumn = found.get(column) ?? { rows: 0, places: [] };
      found.set(column, ofColumn);
      ofColumn.rows++;
      if (ofColumn.places.length < shownPlaces) ofColumn.places.push(placeOf(file, line, column));
    },
    findings: () =>
      [...found].map(
        ([column, { rows, places }]) =>
          `${asPlaceholder(column)} is empty and has no fallback in ${written.format(rows)} ${rows === 1 ? 'row' : 'rows'}: ${places.join(', ')}${rows > places.length ? ' …' : ''}. The text has a gap there; [[${column}|fallback]] fills it`,
      ),
  };
}
