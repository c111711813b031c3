import type { Format } from '../domain/message.ts';
import { replaceUnsupportedCharacters } from './characters.ts';
import type { EncodedAnswer } from './wire-interface.ts';
import { buildXml, type XmlElements } from './xml.ts';

/** Answers that contain records: a JSON object, or children of an XML `root` with nested lists. */

/** Members in wire order; a list contains further records. */
export type RecordMembers = { readonly [name: string]: string | number | null | readonly RecordMembers[] };

const entryNames: Readonly<Record<string, string>> = {
  Recipients: 'Recipient',
  Messages: 'Message',
  SMSReplies: 'SMSReply',
};

export function encodeRecords(members: RecordMembers, format: Format): EncodedAnswer {
  const isJson = format === 'json';
  return {
    status: 200,
    headers: { 'Content-Type': `application/${format}; charset=utf-8` },
    body: isJson ? JSON.stringify(members) : buildXml({ root: toElements(members) }),
  };
}

function toElements(members: RecordMembers): XmlElements {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      if (typeof value !== 'object' || value === null)
        return [name, replaceUnsupportedCharacters(String(value ?? ''))];
      return [name, { [entryNames[name] ?? name]: value.map(toElements) }];
    }),
  );
}

/** `YYYY-MM-DD HH:mm:ss`; `local` in the zone of the message. */
export type RecordTime = { readonly utc: string; readonly local: string };

export type RecordPage = {
  /** From 1 to 1000. */
  readonly recordsPerPage: number;
  /** From 1. */
  readonly page: number;
};

export function pageMembers(count: number, { recordsPerPage, page }: RecordPage): RecordMembers {
  const PageCount = Math.ceil(count / recordsPerPage);
  return { TotalRecords: count, RecordsPerPage: recordsPerPage, PageCount, Page: page };
}

export function recordsOnPage<Entry>(
  records: readonly Entry[],
  { recordsPerPage, page }: RecordPage,
): Entry[] {
  return records.slice((page - 1) * recordsPerPage, page * recordsPerPage);
}
