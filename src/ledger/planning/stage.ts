import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Contact } from '../../domain/contacts.ts';
import type { Envelope } from '../../domain/message.ts';
import { Memory } from '../../platform/memory.ts';
import { batchOf } from '../batch.ts';
import { copyValue } from '../copy.ts';

/** A contact file's content is kept in pieces of its bytes, compressed by themselves. */
export type ContactFilePiece = { readonly file: number; readonly piece: number; readonly data: Buffer };

/** Contacts on their way into the ledger, and what has to be known of them there. */
export type ContactSource = {
  /** In the order of the files, in batches. */
  readonly contacts: AsyncIterable<readonly Contact[]>;
  /** Lines of the files before this one; asked for once a contact of it has come. */
  readonly linesBefore: (file: number) => number;
  /** SMS parts of what a contact is sent; null in other channels. */
  readonly partsOf: (contact: ValidContact) => number | null;
  /** The place of an address's tariff in the run's rates; null where nobody has another than the first. */
  readonly tariffOf: ((address: string) => number) | null;
  /** Whether contacts have keys. */
  readonly keyed: boolean;
  /** The pieces of the contact files that have become whole since this was last asked. */
  readonly takePieces: () => Promise<readonly ContactFilePiece[]>;
};

export type ValidContact = Extract<Contact, { kind: 'contact' }>;

/**
 * Copies contacts into staging tables that only this session sees and that Postgres drops with it, so that a crash
 * before `expandRun` commits leaves nothing behind. Memory does not grow with the number of rows: they go in segments,
 * each with the envelopes, the rejected contacts and the pieces of files that came up in it.
 */
export async function stageContacts(client: pg.ClientBase, source: ContactSource): Promise<void> {
  await createStagingTables(client);
  const known = new StagedEnvelopes();
  const batches = source.contacts[Symbol.asyncIterator]();
  try {
    for (let finished = false; !finished; ) {
      const segment = new Segment(source, known);
      await copyIn(client, segment.contactsTable, segment.copyLines(batches));
      await copyIn(client, 'staged_envelopes', segment.envelopes.take());
      await copyIn(client, 'staged_rejections', segment.rejections.take());
      await stagePieces(client, await source.takePieces());
      finished = segment.finished;
    }
  } finally {
    await batches.return?.();
  }
  await client.query('ANALYZE staged_contacts (line, envelope, address), staged_envelopes (envelope)');
}

/** Tables of this session alone; what an earlier plan left in them is dropped. */
export async function createStagingTables(client: pg.ClientBase): Promise<void> {
  await client.query(`
    DROP TABLE IF EXISTS
      staged_contacts, staged_envelopes, staged_rejections, staged_pieces, staged_suppressions;
    CREATE TEMPORARY TABLE staged_contacts (
      line             integer NOT NULL,
      envelope         integer NOT NULL,
      parts            smallint,
      tariff           smallint,
      key              uuid,
      address          text COLLATE "C" NOT NULL,
      original_address text,
      destination      text NOT NULL
    );
    -- The planner needs to know no more of a million rows than a few thousand of them tell.
    ALTER TABLE staged_contacts
      ALTER COLUMN line SET STATISTICS 10,
      ALTER COLUMN envelope SET STATISTICS 10,
      ALTER COLUMN address SET STATISTICS 10;
    CREATE TEMPORARY TABLE staged_envelopes (
      envelope integer NOT NULL, sub_account text, department text, charge_code text, zones text,
      fields text NOT NULL, others text
    );
    ALTER TABLE staged_envelopes ALTER COLUMN envelope SET STATISTICS 10;
    COMMENT ON COLUMN staged_envelopes.others IS
      'A JSON object with keypads, files and audio; null where there are none of them.';
    CREATE TEMPORARY TABLE staged_rejections (
      line integer NOT NULL, column_name text NOT NULL, reason text NOT NULL, detail text NOT NULL
    );
    CREATE TEMPORARY TABLE staged_suppressions (
      place integer GENERATED ALWAYS AS IDENTITY,
      address text COLLATE "C" NOT NULL, sub_account text NOT NULL, detail text NOT NULL
    );
    CREATE TEMPORARY TABLE staged_pieces (file integer NOT NULL, piece integer NOT NULL, data bytea NOT NULL);
    ALTER TABLE staged_pieces ALTER COLUMN data SET STORAGE EXTERNAL;
  `);
}

/** A segment ends after this many contacts, or bytes of envelopes and rejected contacts. */
const segmentContacts = 65_536;
const segmentBytes = 1024 * 1024;

/** Rows are sent to Postgres in pieces of about this many characters; one write a row costs more than the row. */
const pieceSize = 16_384;

/** Lines that wait for their turn, as bytes: strings that live so long would burden the garbage collector. */
class CopyLines {
  bytes = 0;
  #piece = '';
  #whole: Buffer[] = [];

  add(line: string): void {
    this.#piece += line;
    if (this.#piece.length >= pieceSize) this.#finishPiece();
  }

  take(): readonly Buffer[] {
    this.#finishPiece();
    return this.#whole;
  }

  #finishPiece(): void {
    const piece = Buffer.from(this.#piece);
    this.#piece = '';
    this.#whole.push(piece);
    this.bytes += piece.length;
  }
}

class Segment {
  readonly envelopes = new CopyLines();
  readonly rejections = new CopyLines();
  finished = false;
  /** With the columns of a line. */
  readonly contactsTable: string;
  readonly #source: ContactSource;
  readonly #known: StagedEnvelopes;

  constructor(source: ContactSource, known: StagedEnvelopes) {
    this.#source = source;
    this.#known = known;
    const more = `${source.tariffOf ? ', tariff' : ''}${source.keyed ? ', key' : ''}`;
    this.contactsTable = `staged_contacts (line, envelope, parts, address, original_address, destination${more})`;
  }

  /** Takes as many batches as the segment holds. */
  async *copyLines(batches: AsyncIterator<readonly Contact[]>): AsyncGenerator<string, void, undefined> {
    let piece = '';
    for (let taken = 0; taken < segmentContacts && !this.#isFull(); ) {
      const { done, value: batch } = await batches.next();
      if (done) {
        this.finished = true;
        break;
      }
      taken += batch.length;
      for (const contact of batch) piece += this.#copyLine(contact);
      if (piece.length >= pieceSize) {
        yield piece;
        piece = '';
      }
    }
    if (piece !== '') yield piece;
  }

  #isFull(): boolean {
    return this.envelopes.bytes + this.rejections.bytes > segmentBytes;
  }

  /** Empty for a rejected contact, which goes into its own table. */
  #copyLine(contact: Contact): string {
    const line = this.#source.linesBefore(contact.file) + contact.line;
    if (contact.kind === 'rejected') {
      const { column, reason, detail } = contact;
      this.rejections.add(`${line}\t${copyValue(column)}\t${reason}\t${copyValue(detail)}\n`);
      return '';
    }
    const { address, originalAddress } = contact;
    const number = this.#numberOf(contact);
    const original = originalAddress === address ? '\\N' : copyValue(originalAddress);
    const destination = copyValue(JSON.stringify(contact.destination));
    const parts = this.#source.partsOf(contact) ?? '\\N';
    const { tariffOf, keyed } = this.#source;
    const more = `${tariffOf ? `\t${tariffOf(address)}` : ''}${keyed ? `\t${contact.key ?? '\\N'}` : ''}`;
    return `${line}\t${number}\t${parts}\t${copyValue(address)}\t${original}\t${destination}${more}\n`;
  }

  /** In the order in which envelopes first come up. */
  #numberOf({ envelope, zones }: ValidContact): number {
    const { known } = this.#known;
    const numbers = known.get(envelope);
    const found = numbers?.[zones ?? ''];
    if (found !== undefined) return found;
    const number = ++this.#known.last;
    const line = envelopeLine(number, envelope, zones);
    this.envelopes.add(line);
    if (numbers) numbers[zones ?? ''] = number;
    else known.set(envelope, { [zones ?? '']: number }, line.length);
    return number;
  }
}

/**
 * Envelopes that have come up. One is known as an object, and gets another number once it has been forgotten; equal ones that
 * have two numbers are made one by `expandRun`.
 */
class StagedEnvelopes {
  readonly known = new Memory<Envelope, EnvelopeNumbers>();
  last = 0;
}

/** The fields are apart from all else: most envelopes have nothing else. */
function envelopeLine(
  number: number,
  { fields, keypads, files, audio }: Envelope,
  zones: string | undefined,
): string {
  const { SubAccount, Department, ChargeCode } = fields;
  const payer = [SubAccount, Department, ChargeCode, zones].map(copyOptional).join('\t');
  const hasOthers = keypads.length > 0 || files.length > 0 || Object.keys(audio).length > 0;
  const others = copyOptional(hasOthers ? JSON.stringify({ keypads, files, audio }) : undefined);
  return `${number}\t${payer}\t${copyValue(JSON.stringify(fields))}\t${others}\n`;
}

function copyOptional(value: string | undefined): string {
  return value === undefined ? '\\N' : copyValue(value);
}

/** Numbers of an envelope, by the time zones of its recipients: those in other zones are others. */
type EnvelopeNumbers = Record<string, number>;

async function copyIn(
  client: pg.ClientBase,
  table: string,
  pieces: Iterable<Buffer> | AsyncIterable<string>,
): Promise<void> {
  // Pieces that wait are memory; Postgres takes them faster than they are made.
  await pipeline(
    Readable.from(pieces, { highWaterMark: 2 }),
    client.query(copyFrom(`COPY ${table} FROM STDIN`)),
  );
}

const staged = batchOf<ContactFilePiece>({
  file: ['integer', ({ file }) => file],
  piece: ['integer', ({ piece }) => piece],
  data: ['bytea', ({ data }) => data],
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
