import { expect, test } from 'vitest';
import { decisionKinds } from '../../src/domain/decisions.ts';
import { runPhases } from '../../src/domain/runs.ts';
import { chargeEffects, reconciliationKinds } from '../../src/ledger/billing/reconcile.ts';
import { phrasesOf, readSqlTexts } from '../support/sql-texts.ts';
import { testLedger } from '../support/test-ledger.ts';

/**
 * TypeScript writes text for people; SQL has kinds and values (`src/domain/reasons.ts`). So no other SQL constant has
 * a space. An unused entry fails too.
 */
const allowedPhrases: Readonly<Record<string, string>> = {
  'given up': 'a state of a notification, in a closed list',
  'YYYY-MM-DD HH24:MI': 'a format',
  'client backend': 'a kind of session, as Postgres names it',
  'hash ': 'shown instead of an address, in a list that can be imported',
};

/** Of functions and views. */
const allowedInFunctions: Readonly<Record<string, string>> = {
  '^(HTTP [0-9]{3}, ([^ :]+/[^ :]+|no media type)): .*$':
    'the beginning of a stored reason, by which doubts are grouped',
};

const closedLists = new Set<string>([
  ...runPhases,
  ...decisionKinds,
  ...reconciliationKinds,
  ...chargeEffects,
]);

const opened = testLedger();

const isKey = (phrase: string): boolean => phrase.startsWith('volley ') || phrase.trim() === '';

test('no statement of the ledger contains text for people', () => {
  const found = readSqlTexts().flatMap(({ file, text }) =>
    phrasesOf(text).map((phrase) => [file, phrase] as const),
  );
  const others = found.filter(([, phrase]) => !isKey(phrase));
  const unknown = others.filter(([, phrase]) => !(phrase in allowedPhrases) && !closedLists.has(phrase));
  expect([...new Set(unknown.map((each) => each.join(': ')))]).toEqual([]);
  const phrasesFound = new Set(others.map(([, phrase]) => phrase));
  expect(Object.keys(allowedPhrases).filter((phrase) => !phrasesFound.has(phrase))).toEqual([]);
});

test('no function or view of the ledger contains text for people', async () => {
  const { rows } = await opened.ledger.pool.query<{ name: string; text: string }>(`
    SELECT p.proname AS name, pg_get_functiondef(p.oid) AS text
    FROM pg_proc p
    JOIN pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = 'public'::regnamespace AND l.lanname = 'sql'
    UNION ALL
    SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'
  `);
  expect(rows.length).toBeGreaterThan(8);
  const found = rows.flatMap(({ name, text }) => phrasesOf(text).map((phrase) => [name, phrase] as const));
  const unknown = found.filter(([, phrase]) => !(phrase in allowedInFunctions));
  expect(unknown.map((each) => each.join(': '))).toEqual([]);
});
