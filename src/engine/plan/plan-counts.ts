import { hash } from 'node:crypto';
import type { CostTotal } from '../../campaign/cost.ts';
import type { Tariffs } from '../../campaign/tariffs.ts';
import type { Envelope } from '../../domain/message.ts';
import type { Portion } from '../../ledger/contacts/windows.ts';

/** A recipient of a plan. */
export type CountedContact = {
  readonly envelope: Envelope;
  readonly address: string;
  /** The address as it is compared. */
  readonly compared: string;
  /** Time zones with commas between; only in a campaign with a window. */
  readonly zones?: string;
  /** In all files together. */
  readonly line: number;
};

/** Counts the recipients of a plan. */
export type PlanCounts = {
  /** @param parts SMS parts; null in other channels */
  readonly add: (contact: CountedContact, parts: number | null) => void;
  /** Recipients of each envelope; one that is sent in several windows is several. */
  readonly envelopeSizes: () => readonly number[];
  /** In the order in which their zones came up. */
  readonly portions: (chunkSize: number) => readonly Portion[];
  readonly totals: () => readonly CostTotal[];
};

type Total = { -readonly [Key in keyof CostTotal]: CostTotal[Key] };
type EnvelopeCount = {
  /** Its place in the order in which they came up. */
  readonly place: number;
  recipients: number;
  /** Of all envelopes with its SubAccount and ChargeCode, by tariff. */
  readonly totals: Map<number, Total>;
  /** How often an address has come up; only where equal ones go into different requests. */
  seen?: Map<string, number>;
  /** What recipients are sent whose addresses have come up before: at each place, those for another time. */
  copies?: EnvelopeCount[];
};

/** What is sent in one window. */
type WindowCount = {
  readonly zones: readonly string[];
  readonly envelopes: EnvelopeCount[];
  readonly known: WeakMap<Envelope, EnvelopeCount>;
  /** Who comes last in the order of the requests, the last first. */
  last: readonly (Portion['last'][number] & { readonly place: number })[];
};

/** Recipients who are told of each window. */
const shownLast = 3;

/**
 * An envelope is known as an object; equal ones are told by their hash.
 *
 * @param separates whether equal addresses go into different requests
 */
export function countPlan({ placeOf }: Pick<Tariffs, 'placeOf'>, separates: boolean): PlanCounts {
  const all: EnvelopeCount[] = [];
  const byHash = new Map<string, EnvelopeCount>();
  const windows = new Map<string | undefined, WindowCount>();
  const byPayer = new Map<string, Map<number, Total>>();

  const windowOf = (zones: string | undefined): WindowCount => {
    const found = windows.get(zones);
    if (found) return found;
    const names = zones === undefined ? [] : zones.split(',');
    const window: WindowCount = { zones: names, envelopes: [], known: new WeakMap(), last: [] };
    windows.set(zones, window);
    return window;
  };
  const look = (envelope: Envelope, zones: string | undefined, window: WindowCount): EnvelopeCount => {
    const key = `${zones ?? ''} ${hash('sha256', JSON.stringify(envelope), 'base64')}`;
    let count = byHash.get(key);
    if (count === undefined) {
      count = newCount(totalsOf(envelope), window);
      byHash.set(key, count);
    }
    window.known.set(envelope, count);
    return count;
  };
  const newCount = (totals: EnvelopeCount['totals'], window: WindowCount): EnvelopeCount => {
    const count: EnvelopeCount = { place: all.length, recipients: 0, totals };
    all.push(count);
    window.envelopes.push(count);
    return count;
  };
  const apart = (count: EnvelopeCount, compared: string, window: WindowCount): EnvelopeCount => {
    const { seen = new Map<string, number>(), copies = [] } = count;
    Object.assign(count, { seen, copies });
    const times = seen.get(compared) ?? 0;
    seen.set(compared, times + 1);
    if (times === 0) return count;
    const copy = copies[times - 1] ?? newCount(count.totals, window);
    copies[times - 1] = copy;
    return copy;
  };
  const keepLast = (window: WindowCount, added: WindowCount['last'][number]): void => {
    const lowest = window.last[shownLast - 1];
    // Lines only ever grow.
    if (lowest !== undefined && lowest.place > added.place) return;
    window.last = [added, ...window.last]
      .sort((one, other) => other.place - one.place || other.line - one.line)
      .slice(0, shownLast);
  };
  const totalsOf = ({ fields }: Envelope): Map<number, Total> => {
    const payer = JSON.stringify([fields['SubAccount'] ?? null, fields['ChargeCode'] ?? null]);
    const totals = byPayer.get(payer) ?? new Map<number, Total>();
    byPayer.set(payer, totals);
    return totals;
  };
  return {
    add: ({ envelope, zones, address, compared, line }, parts) => {
      const window = windowOf(zones);
      const known = window.known.get(envelope) ?? look(envelope, zones, window);
      const count = separates ? apart(known, compared, window) : known;
      count.recipients++;
      keepLast(window, { place: count.place, line, address });
      const tariff = placeOf?.(address) ?? 0;
      let total = count.totals.get(tariff);
      if (total === undefined) {
        const { SubAccount: subAccount = null, ChargeCode: chargeCode = null } = envelope.fields;
        total = { subAccount, chargeCode, tariff, recipients: 0, parts: null, example: null };
        count.totals.set(tariff, total);
      }
      total.recipients++;
      if (parts !== null) total.parts = (total.parts ?? 0) + parts;
      // The first in the order of texts, as Postgres finds it for a run.
      if (placeOf && (total.example === null || address < total.example)) total.example = address;
    },
    envelopeSizes: () => all.map(({ recipients }) => recipients),
    portions: (chunkSize) =>
      [...windows.values()].map(({ zones, envelopes, last }) => ({
        zones,
        requests: envelopes.reduce((sum, { recipients }) => sum + Math.ceil(recipients / chunkSize), 0),
        recipients: envelopes.reduce((sum, { recipients }) => sum + recipients, 0),
        last: last.map(({ address, line }) => ({ address, line })),
      })),
    totals: () => [...byPayer.values()].flatMap((totals) => [...totals.values()]),
  };
}
