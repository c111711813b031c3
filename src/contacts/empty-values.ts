import { asPlaceholder } from '../campaign/placeholders.ts';

export type EmptyValues = {
  readonly add: (file: number, line: number, column: string) => void;
  /** A sentence without a full stop for each column. */
  readonly findings: () => readonly string[];
};

const shownPlaces = 3;
const written = new Intl.NumberFormat('en');

/**
 * Counts the rows whose text would have a gap. They are sent, because an empty value can be meant.
 *
 * @param placeOf the line of a contact file, by its index
 */
export function createEmptyValues(
  placeOf: (file: number, line: number, column: string) => string,
): EmptyValues {
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
