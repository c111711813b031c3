import type { CostTotal } from '../../campaign/cost.ts';
import type { Tariffs } from '../../campaign/tariffs.ts';
import type { Envelope } from '../../domain/message.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import { createFingerprintMap } from '../../platform/fingerprints.ts';
import { createNumberList } from '../../platform/number-list.ts';
import { rememberByEnvelope } from './remember.ts';

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

export type PlanCounts = {
  /** @param parts SMS parts; null in other channels */
  readonly add: (contact: CountedContact, parts: number | null) => void;
  /** One that is sent in several windows is several. */
  readonly envelopes: () => number;
  readonly recipients: () => number;
  readonly requests: (chunkSize: number) => number;
  /** In the order in which their zones came up. */
  readonly portions: (chunkSize: number) => readonly WindowTotals[];
  readonly totals: () => readonly CostTotal[];
  /** What the counts of millions of envelopes take. */
  readonly bytes: () => number;
};

type Total = { -readonly [Key in keyof CostTotal]: CostTotal[Key] };

/** Of all envelopes with one SubAccount and ChargeCode, by tariff. */
type PayerTotals = Map<number, Total>;

/** An envelope that has come up: its place in the order in which they did, and who pays. */
type KnownEnvelope = { readonly place: number; readonly totals: PayerTotals };

type WindowCount = {
  readonly number: number;
  readonly zones: readonly string[];
  readonly envelopeOf: (envelope: Envelope) => KnownEnvelope;
  /** Who comes last in the order of the requests, the last first. */
  last: readonly (WindowTotals['lastRecipients'][number] & { readonly place: number })[];
};

/** Recipients who are told of each window. */
const shownLast = 3;

/**
 * An envelope is known as an object; equal ones are told by their fingerprints. Where each recipient has an envelope of
 * its own there are as many as recipients, so of each no more than some numbers is kept.
 *
 * @param separates whether equal addresses go into different requests
 */
export function countPlan({ placeOf }: Pick<Tariffs, 'placeOf'>, separates: boolean): PlanCounts {
  const places = createFingerprintMap();
  /** By the place of an envelope: how many recipients it has, and in which window. */
  const recipientsOf = createNumberList();
  const windowNumbers = createNumberList();
  const windows = new Map<string | undefined, WindowCount>();
  const byPayer = new Map<string, PayerTotals>();
  /** How often an address has come up in an envelope; only where equal ones go into different requests. */
  const seen = createFingerprintMap();
  /** What recipients are sent whose addresses have come up before: the places for the second time, the third, … */
  const copies = new Map<number, number[]>();

  const windowOf = (zones: string | undefined): WindowCount => {
    const found = windows.get(zones);
    if (found) return found;
    const names = zones === undefined ? [] : zones.split(',');
    const number = windows.size;
    const envelopeOf = rememberByEnvelope((envelope) => look(envelope, zones, number));
    const window: WindowCount = { number, zones: names, envelopeOf, last: [] };
    windows.set(zones, window);
    return window;
  };
  const newPlace = (window: number): number => {
    windowNumbers.push(window);
    return recipientsOf.push(0);
  };
  const look = (envelope: Envelope, zones: string | undefined, window: number): KnownEnvelope => {
    const next = recipientsOf.length();
    const found = places.add(`${zones ?? ''} ${JSON.stringify(envelope)}`, next + 1, 0);
    return { place: found ? found[0] - 1 : newPlace(window), totals: totalsOf(envelope) };
  };
  const apart = (place: number, compared: string, window: WindowCount): number => {
    const times = seen.increment(`${place} ${compared}`);
    if (times === 0) return place;
    const others = copies.get(place) ?? [];
    const copy = others[times - 1] ?? newPlace(window.number);
    others[times - 1] = copy;
    copies.set(place, others);
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
  const totalsOf = ({ fields }: Envelope): PayerTotals => {
    const payer = JSON.stringify([fields['SubAccount'] ?? null, fields['ChargeCode'] ?? null]);
    const totals = byPayer.get(payer) ?? new Map<number, Total>();
    byPayer.set(payer, totals);
    return totals;
  };
  /** Recipients and requests of each window. */
  const sums = (chunkSize: number): { recipients: number; requests: number }[] => {
    const counts = Array.from(windows, () => ({ recipients: 0, requests: 0 }));
    for (let place = 0; place < recipientsOf.length(); place++) {
      const count = counts[windowNumbers.at(place)];
      const recipients = recipientsOf.at(place);
      if (!count) continue;
      count.recipients += recipients;
      count.requests += Math.ceil(recipients / chunkSize);
    }
    return counts;
  };
  return {
    add: ({ envelope, zones, address, compared, line }, parts) => {
      const window = windowOf(zones);
      const { place: own, totals } = window.envelopeOf(envelope);
      const place = separates ? apart(own, compared, window) : own;
      recipientsOf.set(place, recipientsOf.at(place) + 1);
      keepLast(window, { place, line, address });
      const tariff = placeOf?.(address) ?? 0;
      let total = totals.get(tariff);
      if (total === undefined) {
        const { SubAccount: subAccount = null, ChargeCode: chargeCode = null } = envelope.fields;
        total = { subAccount, chargeCode, tariff, recipients: 0, parts: null, example: null };
        totals.set(tariff, total);
      }
      total.recipients++;
      if (parts !== null) total.parts = (total.parts ?? 0) + parts;
      // The first in the order of texts, as Postgres finds it for a run.
      if (placeOf && (total.example === null || address < total.example)) total.example = address;
    },
    envelopes: recipientsOf.length,
    recipients: () => sums(1).reduce((sum, { recipients }) => sum + recipients, 0),
    requests: (chunkSize) => sums(chunkSize).reduce((sum, { requests }) => sum + requests, 0),
    portions: (chunkSize) => {
      const counts = sums(chunkSize);
      return [...windows.values()].map(({ number, zones, last }) => ({
        zones,
        ...(counts[number] ?? { recipients: 0, requests: 0 }),
        lastRecipients: last.map(({ address, line }) => ({ address, line })),
      }));
    },
    totals: () => [...byPayer.values()].flatMap((totals) => [...totals.values()]),
    bytes: () => places.bytes() + seen.bytes() + 8 * recipientsOf.length(),
  };
}
