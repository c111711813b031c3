import { InvalidArgumentError } from 'commander';
import type { WantedRow } from '../engine/plan/row-choice.ts';

/** A browser opens a page of 200 e-mails in two seconds, and one of 500 in half a minute. */
const maxRows = 200;

/** `1,7,500`, `10-12`, `contacts.csv:8`. */
export function readWantedRows(text: string): readonly WantedRow[] {
  const wanted = text.split(',').flatMap((item) => readItem(item.trim()));
  if (wanted.length > maxRows) throw new InvalidArgumentError(`expected at most ${maxRows} rows.`);
  return wanted;
}

function readItem(item: string): WantedRow[] {
  const numbers = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(item);
  const [from, to] = [Number(numbers?.[1]), Number(numbers?.[2] ?? numbers?.[1])];
  if (numbers && from >= 1 && to >= from) {
    const count = Math.min(to - from + 1, maxRows + 1);
    return Array.from({ length: count }, (_, index) => ({ kind: 'number', row: from + index }));
  }
  const [, file, line] = /^(.+):([1-9]\d{0,8})$/.exec(item) ?? [];
  if (file !== undefined) return [{ kind: 'line', file, line: Number(line) }];
  throw new InvalidArgumentError(
    'expected numbers of contacts from 1, such as 1,7,500 or 10-12, or lines of a file, such as contacts.csv:8.',
  );
}
