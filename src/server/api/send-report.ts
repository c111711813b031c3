import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type {} from '@fastify/accepts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Encoding } from '../../platform/encodings.ts';
import { formatSheet } from '../../report/formats/format-sheet.ts';
import type { ReportFormat, Sheet } from '../../report/formats/sheet.ts';
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
export type ReportFile = { readonly name: string; readonly format: HttpFormat };

export function sendSheet<Row>(reply: FastifyReply, file: ReportFile, sheet: Sheet<Row>): Promise<void> {
  const pieces = formatSheet(sheet, file.format, undefined, csvCall(reply.request));
  return sendPieces(reply, file, pieces, file.format === 'csv' ? sheet.csv?.encoding : undefined);
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

/** The same call for CSV. */
function csvCall({ method, url }: FastifyRequest): string {
  const asked = new URL(url, 'http://volley');
  asked.searchParams.set('format', 'csv');
  return `${method} ${asked.pathname}${asked.search}`;
}
