import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Columns, pickColumns } from '../../src/report/column.ts';
import { auditColumns } from '../../src/report/lists/audit.ts';
import { deliveryReportColumns, missingColumns } from '../../src/report/lists/delivery-reports.ts';
import { doubtColumns, failureGroupColumns } from '../../src/report/lists/failures.ts';
import { limitColumns } from '../../src/report/lists/limits.ts';
import { monthColumns } from '../../src/report/lists/months.ts';
import { recipientColumns } from '../../src/report/lists/recipients.ts';
import { rejectedColumns, rejectionColumns } from '../../src/report/lists/rejected.ts';
import {
  attemptEndColumns,
  deliveryResultColumns,
  moneyColumns,
} from '../../src/report/lists/run-results.ts';
import { runColumns } from '../../src/report/lists/runs.ts';
import { scheduleColumns, tickColumns, upcomingColumns } from '../../src/report/lists/schedules.ts';
import { suppressionColumns } from '../../src/report/lists/suppressions.ts';
import { tokenColumns } from '../../src/report/lists/tokens.ts';

const titlesOf = <Row>(columns: Columns<Row>) => columns.map(({ key, title }) => ({ key, title }));

const lists = {
  runs: titlesOf(runColumns),
  audit: titlesOf(auditColumns),
  'delivery reports': titlesOf(deliveryReportColumns),
  missing: titlesOf(missingColumns),
  doubts: titlesOf(doubtColumns),
  failures: titlesOf(failureGroupColumns),
  recipients: titlesOf(recipientColumns('', true)),
  rejected: titlesOf(rejectedColumns([])),
  rejections: titlesOf(rejectionColumns),
  attempts: titlesOf(attemptEndColumns),
  results: titlesOf(deliveryResultColumns),
  money: titlesOf(moneyColumns),
  limits: titlesOf(limitColumns),
  months: titlesOf(monthColumns),
  schedules: titlesOf(scheduleColumns),
  ticks: titlesOf(tickColumns),
  upcoming: titlesOf(upcomingColumns),
  suppressions: titlesOf(suppressionColumns),
  tokens: titlesOf(tokenColumns(new Date(0))),
};

/** Keys that name different things in different lists. */
const different = ['at', 'createdAt', 'timeZone'];

test.each(Object.entries(lists))('no two columns of the list "%s" have the same key', (_, columns) => {
  const keys = columns.map(({ key }) => key);
  expect(keys).toEqual([...new Set(keys)]);
});

test('what has the same name in JSON has the same title on every screen', () => {
  const titles = Map.groupBy(Object.values(lists).flat(), ({ key }) => key);
  const several = [...titles]
    .filter(([key]) => !different.includes(key))
    .map(([key, columns]) => [key, [...new Set(columns.map(({ title }) => title))]] as const)
    .filter(([, found]) => found.length > 1);
  expect(several).toEqual([]);
});

const source = join(import.meta.dirname, '../../src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(source, file), 'utf8') }));
const filesWith = (pattern: RegExp): readonly string[] =>
  files
    .filter(({ text }) => pattern.test(text))
    .map(({ file }) => file)
    .toSorted();

test('a state is written as its name: no file gives it another word', () => {
  expect(filesWith(/\b(?:in_doubt|abandoned|undelivered): ['`]/)).toEqual([
    // States of recipients for states of requests, sentences, and colours.
    'ledger/counts/run-counts.ts',
    'report/lists/recipients.ts',
    'report/purge-hold.ts',
    'report/screen.ts',
  ]);
});

test('tables of a list are drawn by one file for terminals and by one for pages', () => {
  expect(filesWith(/from 'cli-table3'|<th scope="row"/)).toEqual([
    // The figures of a chart and the placeholders of a message are no lists.
    'report/html/chart.ts',
    'report/html/preview-message.ts',
    'report/html/table.ts',
    'report/table.ts',
  ]);
});

test('a sentence of a page or of the API stands in one file, and commands import it from there', () => {
  const screens = files.filter(({ file }) => /^(?:cli|dashboard|report|server)\//.test(file));
  const sentences = screens.flatMap(({ file, text }) => {
    const code = text
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/^\s*\/\/.*$/gm, '')
      .replace(/^import [\s\S]*?;$/gm, '');
    // Six words and more, such as a sentence has.
    const found = code.match(/\b[A-Za-z][a-z]+(?: [A-Za-z]+(?:['’-][a-z]+)?){5,}/g) ?? [];
    return [...new Set(found)].map((words) => ({ words, file }));
  });
  const twice = [...Map.groupBy(sentences, ({ words }) => words)]
    .map(([words, found]) => [words, found.map(({ file }) => file)] as const)
    .filter(([, found]) => found.length > 1 && found.some((file) => !file.startsWith('cli/')));
  expect(twice).toEqual([]);
});

test('a page chooses columns by their keys, and another key does not compile', () => {
  expect(titlesOf(pickColumns(tickColumns, 'state', 'dueAt'))).toEqual([
    { key: 'state', title: 'State' },
    { key: 'dueAt', title: 'Due' },
  ]);
  // @ts-expect-error: the list has no such column
  expect(pickColumns(tickColumns, 'sate')).toEqual([]);
  // @ts-expect-error: the list has no such column
  expect(pickColumns(tickColumns, { key: 'due', title: 'Due' })).toEqual([]);
});
