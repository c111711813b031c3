import { encodings } from '../../contacts/contact-file.ts';
import type { ColumnNames } from '../../contacts/named-columns.ts';
import { InputError } from '../../domain/problems.ts';
import type { ListMatch, ListReading } from '../../engine/plan/brought-list.ts';
import { listNames } from '../../platform/suggestions.ts';
import { type Html, html } from '../../report/html/html.ts';
import { type Fields, numberIn, textIn, wordIn } from '../base/fields.ts';
import { problemItems } from '../base/problems.ts';
import { choiceField, textField } from '../parts/form-fields.ts';

/** How a person wants a list to be read. */
export function readReading(query: Fields): ListReading {
  return {
    skipLines: Math.min(numberIn(query, 'skipLines'), 10_000),
    sheet: textIn(query, 'sheet') || undefined,
    encoding: wordIn(query, 'encoding', encodings),
  };
}

/** A name as a form sends it: a page shows characters that a browser would obey as codes. */
const toCode = (name: string): string => Buffer.from(name).toString('base64url');
const fromCode = (code: string): string => Buffer.from(code, 'base64url').toString();

const prefix = 'column-';

/** The columns that a person has chosen. */
export function readColumns(query: Fields): ColumnNames {
  const names = Object.keys(query).filter((field) => field.startsWith(prefix) && textIn(query, field) !== '');
  return Object.fromEntries(
    names.map((field) => [fromCode(field.slice(prefix.length)), fromCode(textIn(query, field))]),
  );
}

/** What the campaign needs, each with the column of the list, or why there is no match. @param next where it leads */
export function matchForm(match: ListMatch | InputError, query: Fields, next: string): Html {
  const isRefused = match instanceof InputError;
  const { skipLines, sheet, encoding } = readReading(query);
  const sheets =
    isRefused || match.format.kind === 'csv' ? [] : [match.format.sheet, ...match.format.otherSheets];
  const sheetHint =
    sheets.length > 1 ? `one of ${listNames(sheets)}` : 'of a workbook; empty: the first visible one';
  return html`${isRefused ? refusalPart(match) : columnsPart(match, query)}
<details${isRefused && html` open`}><summary>How the list is read</summary>
${textField({ name: 'sheet', label: labels.sheet, value: sheet, hint: sheetHint })}
${textField({ name: 'skipLines', label: labels.skipLines, value: String(skipLines), hint: 'usually 0' })}
${choiceField({ name: 'encoding', label: labels.encoding, values: encodings, chosen: encoding, none: 'detected' })}
</details>
<p class="buttons">${!isRefused && html`<button formaction="${next}">See the plan</button>`} <button class="plain" formnovalidate>Match again</button></p>`;
}

function columnsPart({ needed, columns, header, rows }: ListMatch, query: Fields): Html {
  const chosen = { ...columns, ...readColumns(query) };
  const columnOf = (name: string) => header.find((column) => column === chosen[name]);
  const unused = header.filter((column) => !needed.names.some((name) => columnOf(name) === column));
  const fields = needed.names.map((name, index) => {
    const column = columnOf(name);
    const values = column === undefined ? [] : rows.map((row) => row[header.indexOf(column)] ?? '');
    return choiceField({
      name: prefix + toCode(name),
      id: `column-${index}`,
      label: name === needed.recipient ? `${name} (the address)` : name,
      hint:
        values.length === 0
          ? ''
          : `The list begins with: ${values.map((value) => value.slice(0, 40) || '(empty)').join(', ')}`,
      problem: column === undefined ? 'No column of the list has a name like this. Choose one.' : undefined,
      values: header.map(toCode),
      wordsOf: fromCode,
      chosen: column && toCode(column),
      none: 'Choose a column',
      required: true,
    });
  });
  return html`<fieldset><legend>The columns that the campaign needs, and those of the list</legend>
${fields}
${unused.length > 0 && html`<p>The campaign does not use: <bdi>${listNames(unused)}</bdi>.</p>`}
</fieldset>`;
}

const labels = { sheet: 'Sheet', skipLines: 'Lines before the header', encoding: 'Encoding' } as const;

/** The problems name keys of campaigns; the page has fields instead. */
function refusalPart({ problems }: InputError): Html {
  const inPageWords = problems.map(({ where, what }) => ({
    where,
    what: what.replaceAll(
      /"contacts\.(sheet|skipLines|encoding)(: \d+)?"/g,
      (_, key: keyof typeof labels, value = '') => `“${labels[key]}”${value}`,
    ),
  }));
  return html`<div role="alert"><p class="error">The list cannot be matched.</p>${problemItems(inPageWords)}</div>`;
}
