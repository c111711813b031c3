import type { Envelope } from '../../domain/message.ts';
import { createBloomFilter } from '../../platform/bloom-filter.ts';
import { BoundedCache } from '../../platform/bounded-cache.ts';
import { CopyLines, copyOptional, copyValue } from '../copy.ts';

/** Numbers of an envelope, by the time zones of its recipients. */
type EnvelopeNumbers = Record<string, number>;

/**
 * Numbers envelopes for the staging table in order of appearance. It recognises objects, and numbers an evicted one
 * again; `expandRun` merges equal envelopes.
 */
export class StagedEnvelopes {
  readonly lines = new CopyLines();
  readonly #known = new BoundedCache<Envelope, EnvelopeNumbers>();
  readonly #seenBefore = createBloomFilter();
  #last = 0;

  numberOf(envelope: Envelope, zones = ''): number {
    const numbers = this.#known.get(envelope);
    const found = numbers?.[zones];
    if (found !== undefined) return found;
    const number = ++this.#last;
    const values = formatEnvelope(envelope, zones);
    this.lines.add(`${number}\t${this.#seenBefore(values)}\t${values}\n`);
    if (numbers) numbers[zones] = number;
    else this.#known.set(envelope, { [zones]: number }, values.length);
    return number;
  }
}

/** Columns in COPY's text format. Most envelopes have only fields. */
export const envelopeColumns =
  'envelope, maybe_repeated, sub_account, department, charge_code, zones, fields, other_fields' as const;

function formatEnvelope({ fields, keypads, files, audio }: Envelope, zones: string): string {
  const { SubAccount, Department, ChargeCode } = fields;
  const payer = [SubAccount, Department, ChargeCode].map(copyOptional).join('\t');
  const hasOthers = keypads.length > 0 || files.length > 0 || Object.keys(audio).length > 0;
  const otherFields = hasOthers ? JSON.stringify({ keypads, files, audio }) : undefined;
  const inZones = zones === '' ? undefined : zones;
  return `${payer}\t${copyOptional(inZones)}\t${copyValue(JSON.stringify(fields))}\t${copyOptional(otherFields)}`;
}
