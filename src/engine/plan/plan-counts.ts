import type { CostTotal } from '../../campaign/cost.ts';
import type { Tariffs } from '../../campaign/tariffs.ts';
import type { Envelope } from '../../domain/message.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import { createFingerprintMap } from '../../platform/fingerprints.ts';
import { createNumberList } from '../../platform/number-list.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

export type CountedContact = {
  readonly envelope: Envelope;
  readonly address: string;
  /** Normalised for comparison. */
  readonly compared: string;
  /** Time zones separated by commas; only in a campaign with a window. */
  readonly zones?: string;
  /** Counted over all files. */
  readonly line: number;
};

export type PlanCounts = {
  /** @param parts SMS parts; null in other channels */
  readonly add: (contact: CountedContact, parts: number | null) => void;
  /** An envelope that is sent in several windows counts several times. */
  readonly envelopes: () => number;
  readonly recipients: () => number;
  readonly requests: (chunkSize: number) => number;
  /** In the order in which their zones first occurred. */
  readonly portions: (chunkSize: number) => readonly WindowTotals[];
  readonly totals: () => readonly CostTotal[];
  /** Memory of the counts; it grows with millions of envelopes. */
  readonly bytes: () => number;
};

type Total = { -readonly [Key in keyof CostTotal]: CostTotal[Key] };

/** The totals of one SubAccount and ChargeCode, by tariff. */
type PayerTotals = Map<number, Total>;

/** `index` counts envelopes in the order in which they first occurred. */
type KnownEnvelope = { readonly index: number; readonly totals: PayerTotals };

type WindowCount = {
  readonly index: number;
  readonly zones: readonly string[];
  readonly envelopeOf: (envelope: Envelope) => KnownEnvelope;
  /** The recipients of the last requests, the last first. */
  last: readonly (WindowTotals['lastRecipients'][number] & { readonly index: number })[];
};

const maxLastRecipients = 3;

/**
 * Counts recipients, requests and costs. There may be as many envelopes as recipients, so each costs only a few
 * numbers.
 *
 * @param separates whether equal addresses go into different requests
 */
export function createPlanCounts(
  { tariffIndexOf }: Pick<Tariffs, 'tariffIndexOf'>,
  separates: boolean,
): PlanCounts {
  const envelopeIndexes = createFingerprintMap();
  /** By envelope index: its number of recipients, and its window. */
  const recipientCounts = createNumberList();
  const windowIndexes = createNumberList();
  const windows = new Map<string | undefined, WindowCount>();
  const byPayer = new Map<string, PayerTotals>();
  /** How often an address has occurred in an envelope; only with `separates`. */
  const seen = createFingerprintMap();
  /** Envelopes for repeated addresses: the second occurrence, the third, …, by the index of the first. */
  const copies = new Map<number, number[]>();

  const windowOf = (zones: string | undefined): WindowCount => {
    const found = windows.get(zones);
    if (found) return found;
    const names = zones === undefined ? [] : zones.split(',');
    const index = windows.size;
    const envelopeOf = memoizeByEnvelope((envelope) => registerEnvelope(envelope, zones, index));
    const window: WindowCount = { index, zones: names, envelopeOf, last: [] };
    windows.set(zones, window);
    return window;
  };
  const addEnvelope = (window: number): number => {
    windowIndexes.push(window);
    return recipientCounts.push(0);
  };
  const registerEnvelope = (envelope: Envelope, zones: string | undefined, window: number): KnownEnvelope => {
    const next = recipientCounts.length();
    const found = envelopeIndexes.add(`${zones ?? ''} ${JSON.stringify(envelope)}`, next + 1, 0);
    return { index: found ? found[0] - 1 : addEnvelope(window), totals: totalsOf(envelope) };
  };
  const separateCopy = (index: number, compared: string, window: WindowCount): number => {
    const times = seen.increment(`${index} ${compared}`);
    if (times === 0) return index;
    const others = copies.get(index) ?? [];
    const copy = others[times - 1] ?? addEnvelope(window.index);
    others[times - 1] = copy;
    copies.set(index, others);
    return copy;
  };
  const keepLast = (window: WindowCount, added: WindowCount['last'][number]): void => {
    const lowest = window.last[maxLastRecipients - 1];
    // Lines arrive in ascending order.
    if (lowest !== undefined && lowest.index > added.index) return;
    window.last = [added, ...window.last]
      .sort((one, other) => other.index - one.index || other.line - one.line)
      .slice(0, maxLastRecipients);
  };
  const totalsOf = ({ fields }: Envelope): PayerTotals => {
    const payer = JSON.stringify([fields['SubAccount'] ?? null, fields['ChargeCode'] ?? null]);
    const totals = byPayer.get(payer) ?? new Map<number, Total>();
    byPayer.set(payer, totals);
    return totals;
  };
  const sumByWindow = (chunkSize: number): { recipients: number; requests: number }[] => {
    const counts = Array.from(windows, () => ({ recipients: 0, requests: 0 }));
    for (let index = 0; index < recipientCounts.length(); index++) {
      const count = counts[windowIndexes.at(index)];
      const recipients = recipientCounts.at(index);
      if (!count) continue;
      count.recipients += recipients;
      count.requests += Math.ceil(recipients / chunkSize);
    }
    return counts;
  };
  return {
    add: ({ envelope, zones, address, compared, line }, parts) => {
      const window = windowOf(zones);
      const { index: own, totals } = window.envelopeOf(envelope);
      const index = separates ? separateCopy(own, compared, window) : own;
      recipientCounts.set(index, recipientCounts.at(index) + 1);
      keepLast(window, { index, line, address });
      const tariffIndex = tariffIndexOf?.(address) ?? 0;
      let total = totals.get(tariffIndex);
      if (total === undefined) {
        const { SubAccount: subAccount = null, ChargeCode: chargeCode = null } = envelope.fields;
        total = { subAccount, chargeCode, tariffIndex, recipients: 0, parts: null, example: null };
        totals.set(tariffIndex, total);
      }
      total.recipients++;
      if (parts !== null) total.parts = (total.parts ?? 0) + parts;
      // The smallest text, which Postgres chooses for a run too.
      if (tariffIndexOf && (total.example === null || address < total.example)) total.example = address;
    },
    envelopes: recipientCounts.length,
    recipients: () => sumByWindow(1).reduce((sum, { recipients }) => sum + recipients, 0),
    requests: (chunkSize) => sumByWindow(chunkSize).reduce((sum, { requests }) => sum + requests, 0),
    portions: (chunkSize) => {
      const counts = sumByWindow(chunkSize);
      return [...windows.values()].map(({ index, zones, last }) => ({
        zones,
        ...(counts[index] ?? { recipients: 0, requests: 0 }),
        lastRecipients: last.map(({ address, line }) => ({ address, line })),
      }));
    },
    totals: () => [...byPayer.values()].flatMap((totals) => [...totals.values()]),
    bytes: () => envelopeIndexes.bytes() + seen.bytes() + 8 * recipientCounts.length(),
  };
}
