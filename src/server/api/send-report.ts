import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type {} from '@fastify/accepts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { EngineContext } from '../../engine/context.ts';
import { reportContacts } from '../../engine/reporting/contact-report.ts';
import { readRunReport } from '../../engine/reporting/read-run-report.ts';
import { reportFailures, reportMissing } from '../../engine/reporting/streamed-reports.ts';
import type { Encoding } from '../../platform/encodings.ts';
import { withAll } from '../../platform/spooled-file.ts';
import { formatSheet } from '../../report/formats/format-sheet.ts';
import type { ReportFormat, Sheet } from '../../report/formats/sheet.ts';
import { missingSheet } from '../../report/lists/delivery-reports.ts';
import { failureSheet } from '../../report/lists/failures.ts';
import { contactSheet, type ReportedState } from '../../report/run/contact-sheet.ts';
import { formatRunReport } from '../../report/run/format-run-report.ts';
import { toRunDetails } from '../../report/run/run-details.ts';
import { formatAsOf } from '../../report/time.ts';
import { ProblemError } from './problem.ts';

/** The first format is the default. */
export const httpFormats = ['json', 'csv', 'ndjson', 'xlsx', 'html'] as const satisfies ReportFormat[];
export type HttpFormat = (typeof httpFormats)[number];

const mediaTypes: Readonly<Record<HttpFormat, string>> = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  html: 'text/html',
};

export function reportAnswer(json: z.ZodType, formats: readonly HttpFormat[]) {
  const content = formats.map((format) => [
    mediaTypes[format],
    {
      schema:
        format === 'json'
          ? json
          : z.string().meta({
              description: `The report as ${format}.`,
              ...(format === 'xlsx' && { format: 'binary' }),
            }),
    },
  ]);
  return { description: 'The report.', content: Object.fromEntries(content) };
}

/** @throws ProblemError when the report has no accepted format */
export function negotiateFormat<Format extends HttpFormat>(
  request: FastifyRequest,
  asked: Format | undefined,
  formats: readonly Format[],
): Format {
  if (asked !== undefined) return asked;
  const accepted = request.accepts().type(formats.map((format) => mediaTypes[format]));
  const chosen = formats.find((format) => mediaTypes[format] === accepted);
  if (chosen !== undefined) return chosen;
  const what = `Expected an Accept of ${formats.map((format) => mediaTypes[format]).join(', ')}, or format=${formats.join('|')}.`;
  throw new ProblemError(406, 'format', what);
}

/** `name` has no extension. */
type ReportFile = { readonly name: string; readonly format: HttpFormat };

export function sendSheet<Row>(reply: FastifyReply, file: ReportFile, sheet: Sheet<Row>): Promise<void> {
  const pieces = formatSheet(sheet, file.format);
  const encoding = file.format === 'csv' ? sheet.csv?.encoding : undefined;
  const { asOf } = sheet;
  if (asOf.read) reply.header('volley-as-of', formatAsOf(asOf));
  if (asOf.read?.from !== 'replica') return sendPieces(reply, file, pieces, encoding);
  return withAll(
    whileAsked(reply, pieces),
    (error) => error,
    (all) => sendPieces(reply, file, all, encoding),
  );
}

/** Stops reading for a caller who has disconnected. */
async function* whileAsked<Piece>(
  { raw }: FastifyReply,
  pieces: AsyncIterable<Piece>,
): AsyncGenerator<Piece, void, undefined> {
  for await (const piece of pieces) {
    if (raw.destroyed) return;
    yield piece;
  }
}

/** Rejects when the caller disconnects, or a piece cannot be read. */
export async function sendPieces(
  reply: FastifyReply,
  { name, format }: ReportFile,
  pieces: AsyncIterable<string | Uint8Array>,
  encoding: Encoding = 'utf-8',
): Promise<void> {
  const body = Readable.from(inParts(pieces));
  const read = finished(body, { writable: false });
  const charset = format === 'xlsx' ? '' : `; charset=${encoding === 'mac-roman' ? 'macintosh' : encoding}`;
  const disposition = format === 'csv' || format === 'xlsx' ? 'attachment' : 'inline';
  void reply
    .headers({
      'content-type': mediaTypes[format] + charset,
      'content-disposition': `${disposition}; filename="${name}.${format}"`,
      ...(format === 'html' && { 'content-security-policy': pagePolicy }),
    })
    .send(body);
  // A body that waits for the ledger does not notice that its caller has disconnected.
  await Promise.race([read, finished(reply.raw)]);
}

/** Bytes. */
const partSize = 64 * 1024;

/** A caller that reads slowly is known by the parts that it takes. */
async function* inParts(
  pieces: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    for (let start = 0; start < bytes.length; start += partSize)
      yield bytes.subarray(start, start + partSize);
  }
}

const pagePolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/**
 * Streams the accepted recipients without a final delivery report, of a run or of all.
 *
 * @param asked `olderThan`: milliseconds since they were accepted, at least; `accounts`: only theirs, null: all
 */
export function sendMissing(
  context: EngineContext,
  reply: FastifyReply,
  asked: {
    readonly run: string | undefined;
    readonly format: HttpFormat;
    readonly olderThan?: number | undefined;
    readonly accounts?: readonly string[] | null;
  },
): Promise<void> {
  const { run, format, olderThan = 0, accounts = null } = asked;
  const until = new Date(context.now().getTime() - olderThan);
  const [name, which] = run === undefined ? ['missing', 'all runs'] : [`missing-${run}`, `run ${run}`];
  return reportMissing(context, { run, until, accounts }, (rows, asOf) =>
    sendSheet(reply, { name, format }, missingSheet(rows, which, asOf)),
  );
}

/** A report with several tables has no CSV and NDJSON. */
export const runFormats = ['json', 'xlsx', 'html'] as const satisfies HttpFormat[];
type RunFormat = (typeof runFormats)[number];

export type RunReport = { readonly run: string } & (
  | { readonly report: 'run'; readonly format: RunFormat; readonly zone: string }
  | {
      readonly report: 'contacts';
      readonly format: HttpFormat;
      readonly states: ReadonlySet<ReportedState>;
      /** Whether a CSV file is written as the contact file is, and not as UTF-8 with commas. */
      readonly asContactFile: boolean;
    }
  | { readonly report: 'failures'; readonly format: HttpFormat }
);

/**
 * Streams the report, as the API and the pages do.
 *
 * @throws InputError if the run has no such report, because it was purged or is a test
 */
export async function sendRunReport(
  context: EngineContext,
  reply: FastifyReply,
  asked: RunReport,
): Promise<void> {
  const { run } = asked;
  const file = { name: `${asked.report}-${run}`, format: asked.format };
  switch (asked.report) {
    case 'run': {
      const { zone, format } = asked;
      const { asOf, ...found } = await readRunReport(context, run, zone);
      if (asOf.read) reply.header('volley-as-of', formatAsOf(asOf));
      return sendPieces(reply, file, formatRunReport(toRunDetails(found, zone), format, asOf));
    }
    case 'contacts': {
      const { states, asContactFile } = asked;
      return reportContacts(context, run, (found) => {
        const rows = asContactFile ? found : { ...found, csv: undefined };
        return sendSheet(reply, file, contactSheet(run, rows, states));
      });
    }
    case 'failures':
      return reportFailures(context, run, (found) => sendSheet(reply, file, failureSheet(found)));
  }
}
