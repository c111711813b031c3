import type { Format } from '../domain/message.ts';
import { replaceUnsupportedCharacters } from './characters.ts';
import type { EncodedAnswer } from './wire-interface.ts';
import { buildXml, type XmlElements } from './xml.ts';

/** Answers of the service that hold records: an object in JSON; in XML the children of `root`, a list as in a request. */

/** Values in the order of the answer; a list holds records of its own. */
export type RecordMembers = { readonly [name: string]: string | number | null | readonly RecordMembers[] };

/** What one record of a list is called in XML. */
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

/** A moment as answers write it, `YYYY-MM-DD HH:mm:ss`, in UTC and in the zone of the message. */
export type RecordTime = { readonly utc: string; readonly local: string };

/** A page of records that a caller asks for. */
export type RecordPage = {
  /** From 1 to 1000. */
  readonly recordsPerPage: number;
  /** The first is 1. */
  readonly page: number;
};

export function pageMembers(count: number, { recordsPerPage, page }: RecordPage): RecordMembers {
  const PageCount = Math.ceil(count / recordsPerPage);
  return { TotalRecords: count, RecordsPerPage: recordsPerPage, PageCount, Page: page };
}

/** The records of a page. */
export function recordsOnPage<Entry>(
  records: readonly Entry[],
  { recordsPerPage, page }: RecordPage,
): Entry[] {
  return records.slice((page - 1) * recordsPerPage, page * recordsPerPage);
}
