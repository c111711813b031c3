import { timeZonesOfNumber } from '../platform/phone-countries.ts';
import { didYouMeanZone } from '../platform/time-zone-names.ts';
import { parseTimeZone } from '../wire/time-zone.ts';
import type { Definition } from './definition.ts';
import { type Invalid, invalid, type ValueIn } from './invalid.ts';
import { everOpens } from './window.ts';

/**
 * Reads the time zones that a contact's window depends on, or says why they are unknown. `zones` is one text, which the
 * recipients of a request share: IANA names, separated by commas.
 */
export type ReadZones = (
  valueIn: ValueIn,
  address: string,
) => { readonly kind: 'zones'; readonly zones: string } | Invalid;

export function createZoneReader(
  { window, timeZone: campaignZone }: Pick<Definition, 'window' | 'timeZone'>,
  recipientColumn: string,
): ReadZones | undefined {
  if (!window) return undefined;
  const { timeZone } = window;
  /** The error for zones; `undefined`: the window opens in them. */
  const known = new Map<string, string | undefined>();
  const checkZones = (column: string, zones: string, zonesName: string): ReturnType<ReadZones> => {
    if (!known.has(zones)) {
      known.set(
        zones,
        everOpens(window, zones.split(',')) ? undefined : `the window is never open in ${zonesName}`,
      );
    }
    const fault = known.get(zones);
    return fault === undefined ? { kind: 'zones', zones } : invalid(column, fault);
  };
  const fallBack = (column: string, why: string): ReturnType<ReadZones> =>
    campaignZone === undefined
      ? invalid(column, `${why}, and the campaign sets no "timeZone" for such recipients`)
      : checkZones(column, campaignZone, campaignZone);

  switch (timeZone?.kind) {
    case 'column': {
      const { column } = timeZone;
      return (valueIn) => {
        const written = valueIn(column).trim();
        if (written === '') return fallBack(column, 'no time zone');
        const zone = parseTimeZone(written);
        return zone === undefined
          ? invalid(
              column,
              `expected a time zone such as Pacific/Auckland, got "${written}"${didYouMeanZone(written).replace(/^ (.*)$/, '. $1')}`,
            )
          : checkZones(column, zone, zone);
      };
    }
    case 'recipient':
      return (_valueIn, address) => {
        const zones = timeZonesOfNumber(address);
        return zones.length === 0
          ? fallBack(recipientColumn, 'the number has no country, and so no time zone')
          : checkZones(recipientColumn, zones.join(','), 'all time zones of its country at once');
      };
    default: {
      const zone = timeZone?.zone ?? campaignZone ?? 'UTC';
      return () => checkZones(recipientColumn, zone, zone);
    }
  }
}
