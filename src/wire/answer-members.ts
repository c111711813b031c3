import type { Format } from '../domain/message.ts';
import { replaceUnsupportedCharacters } from './characters.ts';
import type { EncodedAnswer } from './wire-interface.ts';
import { buildXml, type XmlElements } from './xml.ts';

/** Answers of the REST interfaces: the members of a JSON object, or children of an XML `root`. */

/** In wire order. A list has texts, which XML joins, or further records, which it nests. */
export type AnswerMembers = {
  readonly [name: string]: string | number | null | readonly (string | AnswerMembers)[];
};

const entryNames: Readonly<Record<string, string>> = {
  Recipients: 'Recipient',
  Messages: 'Message',
  SMSReplies: 'SMSReply',
};

export function encodeAnswer(status: number, members: AnswerMembers, format: Format): EncodedAnswer {
  return {
    status,
    headers: { 'Content-Type': `application/${format}; charset=utf-8` },
    body: format === 'json' ? JSON.stringify(members) : buildXml({ root: toElements(members) }),
  };
}

function toElements(members: AnswerMembers): XmlElements {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const list = typeof value === 'object' && value !== null ? value : [String(value ?? '')];
      const records = list.filter((entry) => typeof entry !== 'string');
      return records.length > 0
        ? [name, { [entryNames[name] ?? name]: records.map(toElements) }]
        : [name, replaceUnsupportedCharacters(list.join('; '))];
    }),
  );
}

export type RecordPage = {
  /** From 1 to 1000. */
  readonly recordsPerPage: number;
  /** From 1. */
  readonly page: number;
};

export function pageMembers(count: number, { recordsPerPage, page }: RecordPage): AnswerMembers {
  const PageCount = Math.ceil(count / recordsPerPage);
  return { TotalRecords: count, RecordsPerPage: recordsPerPage, PageCount, Page: page };
}

export function recordsOnPage<Entry>(
  records: readonly Entry[],
  { recordsPerPage, page }: RecordPage,
): Entry[] {
  return records.slice((page - 1) * recordsPerPage, page * recordsPerPage);
}
