import type pg from 'pg';
import { comparedAddress } from '../../domain/compared-address.ts';
import type { ContactNote } from '../../domain/contact-notes.ts';
import type { Contact } from '../../domain/contacts.ts';
import type { Envelope } from '../../domain/message.ts';
import { BoundedCache } from '../../platform/bounded-cache.ts';
import { createBloomFilter } from '../../platform/text-hash.ts';
import { batchOf } from '../batch.ts';
import { CopyLines, copyIn, copyOptional, copyPieceSize, copyValue } from '../copy.ts';
import type { PieceContent } from '../runs/contact-files.ts';
import { analyzeStagingTables, createStagingTables } from './staging-tables.ts';

/** A piece of a contact file. */
export type ContactFilePiece = PieceContent & { readonly file: number; readonly piece: number };

export type ContactSource = {
  /** Batches in file order. */
  readonly contacts: AsyncIterable<readonly Contact[]>;
  /** Lines of the files before this one, once it has been reached. */
  readonly linesBefore: (file: number) => number;
  /** SMS parts of its message; null in other channels. */
  readonly partsOf: (contact: ValidContact) => number | null;
  /** Index of the tariff in the run's rates; null: one tariff. */
  readonly tariffOf: ((address: string) => number) | null;
  readonly keyed: boolean;
  /** File pieces completed since the last call. */
  readonly takePieces: () => Promise<readonly ContactFilePiece[]>;
  /** For a plan that is shown. @param parts as `partsOf` counts them; null for a rejected contact too */
  readonly readNote?: ((contact: Contact, parts: number | null) => ContactNote | undefined) | undefined;
};

export type ValidContact = Extract<Contact, { kind: 'contact' }>;

/**
 * Copies contacts to temporary tables, so a crash before `expandRun` commits leaves nothing behind. Contacts go in
 * segments, each with its envelopes, rejected contacts and file pieces, so memory use is constant.
 */
export async function stageContacts(client: pg.ClientBase, source: ContactSource): Promise<void> {
  await createStagingTables(client);
  const lines = new ContactLines(source);
  const batches = source.contacts[Symbol.asyncIterator]();
  try {
    while (!lines.finished) {
      await copyIn(client, lines.table, lines.nextSegment(batches));
      await copyIn(client, `staged_envelopes (${envelopeColumns})`, lines.envelopes.lines.takeBuffers());
      await copyIn(
        client,
        'staged_rejections (line, column_name, reason, kind, message)',
        lines.rejections.takeBuffers(),
      );
      await copyIn(client, 'staged_notes (line, note)', lines.notes.takeBuffers());
      await stagePieces(client, await source.takePieces());
    }
  } finally {
    await batches.return?.();
  }
  await analyzeStagingTables(client);
}

/** Limits of a segment: contacts, and bytes of envelopes, rejected contacts and notes. */
const segmentContacts = 65_536;
const segmentBytes = 1024 * 1024;

class ContactLines {
  readonly envelopes = new StagedEnvelopes();
  readonly rejections = new CopyLines();
  readonly notes = new CopyLines();
  finished = false;
  /** COPY's target with the columns of a line. */
  readonly table: string;
  readonly #source: ContactSource;
  readonly #seenBefore = createBloomFilter();

  constructor(source: ContactSource) {
    this.#source = source;
    const more = `${source.tariffOf ? ', tariff' : ''}${source.keyed ? ', key' : ''}`;
    this.table = `staged_contacts (line, envelope, parts, maybe_repeated, address, original_address, destination${more})`;
  }

  async *nextSegment(batches: AsyncIterator<readonly Contact[]>): AsyncGenerator<string, void, undefined> {
    let piece = '';
    for (let contacts = 0; contacts < segmentContacts && !this.#isFull(); ) {
      const { done, value: batch } = await batches.next();
      if (done) {
        this.finished = true;
        break;
      }
      contacts += batch.length;
      for (const contact of batch) piece += this.#copyLine(contact);
      if (piece.length >= copyPieceSize) {
        yield piece;
        piece = '';
      }
    }
    if (piece !== '') yield piece;
  }

  #isFull(): boolean {
    return this.envelopes.lines.bytes + this.rejections.bytes + this.notes.bytes > segmentBytes;
  }

  /** Empty for a rejected contact. */
  #copyLine(contact: Contact): string {
    const line = this.#source.linesBefore(contact.file) + contact.line;
    if (contact.kind === 'rejected') {
      const { column, reason, detail } = contact;
      this.#addNote(line, this.#source.readNote?.(contact, null));
      this.rejections.add(`${line}\t${copyValue(column)}\t${reason}\tunusable\t${copyValue(detail)}\n`);
      return '';
    }
    const { address, originalAddress } = contact;
    const number = this.envelopes.numberOf(contact.envelope, contact);
    const original = originalAddress === address ? '\\N' : copyValue(originalAddress);
    const destination = copyValue(JSON.stringify(contact.destination));
    const parts = this.#source.partsOf(contact);
    this.#addNote(line, this.#source.readNote?.(contact, parts));
    const isMaybeRepeated = this.#seenBefore(contact.key ?? comparedAddress(address));
    const { tariffOf, keyed } = this.#source;
    const more = `${tariffOf ? `\t${tariffOf(address)}` : ''}${keyed ? `\t${contact.key ?? '\\N'}` : ''}`;
    return `${line}\t${number}\t${parts ?? '\\N'}\t${isMaybeRepeated}\t${copyValue(address)}\t${original}\t${destination}${more}\n`;
  }

  #addNote(line: number, note: ContactNote | undefined): void {
    if (note) this.notes.add(`${line}\t${copyValue(JSON.stringify(note))}\n`);
  }
}

const staged = batchOf<ContactFilePiece>({
  file: ['integer', ({ file }) => file],
  piece: ['integer', ({ piece }) => piece],
  data: ['bytea', ({ data }) => data],
  lines_before: ['integer', ({ linesBefore }) => linesBefore],
  words: ['bytea', ({ words }) => words],
});

async function stagePieces(client: pg.ClientBase, pieces: readonly ContactFilePiece[]): Promise<void> {
  if (pieces.length === 0) return;
  await client.query(
    `
    INSERT INTO staged_pieces (${staged.columns})
    SELECT * FROM ${staged.table('staged')}
    `,
    staged.values(pieces),
  );
}

/** Numbers of an envelope, by the variant and the time zones of its recipients. */
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

  numberOf(
    envelope: Envelope,
    { zones = '', variant }: Pick<ValidContact, 'zones' | 'variant'> = {},
  ): number {
    const numbers = this.#known.get(envelope);
    const key = variant === undefined ? zones : `${variant} ${zones}`;
    const found = numbers?.[key];
    if (found !== undefined) return found;
    const number = ++this.#last;
    const values = `${variant ?? '\\N'}\t${formatEnvelope(envelope, zones)}`;
    this.lines.add(`${number}\t${this.#seenBefore(values)}\t${values}\n`);
    if (numbers) numbers[key] = number;
    else this.#known.set(envelope, { [key]: number }, values.length);
    return number;
  }
}

/** Columns in COPY's text format. Most envelopes have only fields. */
const envelopeColumns =
  'envelope, maybe_repeated, variant, sub_account, department, charge_code, zones, fields, other_fields' as const;

function formatEnvelope({ fields, keypads, files, audio }: Envelope, zones: string): string {
  const { SubAccount, Department, ChargeCode } = fields;
  const payer = [SubAccount, Department, ChargeCode].map(copyOptional).join('\t');
  const hasOthers = keypads.length > 0 || files.length > 0 || Object.keys(audio).length > 0;
  const otherFields = hasOthers ? JSON.stringify({ keypads, files, audio }) : undefined;
  const inZones = zones === '' ? undefined : zones;
  return `${payer}\t${copyOptional(inZones)}\t${copyValue(JSON.stringify(fields))}\t${copyOptional(otherFields)}`;
}
