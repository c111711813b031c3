import { join } from 'node:path';
import { encodings } from '../../contacts/contact-file.ts';
import type { ColumnNames } from '../../contacts/named-columns.ts';
import { InputError } from '../../domain/problems.ts';
import { type ListMatch, type ListReading, matchList } from '../../engine/plan/brought-list.ts';
import { listNames } from '../../platform/suggestions.ts';
import { type Html, html } from '../../report/html/html.ts';
import { type Fields, numberIn, textIn, wordIn } from '../base/fields.ts';
import { csrfField } from '../base/layout.ts';
import { sendPage } from '../base/pages.ts';
import { orInputError, problemItems } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, notFound, type View } from '../base/view.ts';
import { campaignStart, requireCampaign } from '../campaigns/campaign-page.ts';
import { choiceField, textField } from '../parts/form-fields.ts';
import { campaignPath, pathWith } from '../paths.ts';
import { addStartPage } from '../plan/start-page.ts';
import type { PlannedStart } from '../plan/start-part.ts';
import { createKeptFiles, fileField, type KeptFiles, receiveFile } from './kept-files.ts';

const path = '/campaigns/:file/list';

/** Pages that send a campaign to a list which a person brings, where the server allows it. */
export function addListPages(tools: Tools): void {
  // Also removes the lists that killed processes left.
  const lists = createKeptFiles('volley-lists', 1);
  tools.server.addHook('onClose', () => lists.close());
  if (!tools.uploads) return;
  addBringPage(tools, lists);
  addMatchPage(tools, lists);
  addStartPage(tools, {
    path: `${path}/:list/start`,
    needsReason: false,
    open: (view, asked) => openStart(view, asked, tools, lists),
  });
}

function addBringPage(tools: Tools, lists: KeptFiles): void {
  const where = { path, scope: 'run' } as const;
  tools.addPage(where, async (view, { params }) => {
    const { file } = await requireCampaign(view, tools, params['file'] ?? '');
    return bringPage(view, file);
  });
  tools.addPost(where, async (view, { params }, reply) => {
    const { file } = await requireCampaign(view, tools, params['file'] ?? '');
    const { file: list } = await receiveFile(reply.request, view, lists);
    if (typeof list !== 'string') return reply.redirect(campaignPath(file, `list/${list.id}`), 303);
    return sendPage(reply, view, 422, bringPage(view, file, list));
  });
}

function addMatchPage(tools: Tools, lists: KeptFiles): void {
  const { addPage, campaignSource, limits } = tools;
  addPage({ path: `${path}/:list`, scope: 'run' }, async (view, asked) => {
    const { file, list, own } = await openList(view, asked, tools, lists);
    const { folder, settings } = campaignSource;
    const match = await orInputError(limits.page(() => matchList(join(folder, file), settings, list)));
    return {
      ...headOf(file),
      body: html`<p>${list.name}. <a href="${campaignPath(file, 'list')}">Choose another file</a></p>
<form method="get" action="${own}">
${matchForm(match, asked.query, `${own}/start`)}
</form>`,
    };
  });
}

async function openStart(view: View, asked: Asked, tools: Tools, lists: KeptFiles): Promise<PlannedStart> {
  const { file, id, list, own } = await openList(view, asked, tools, lists);
  const { row: _, ...asksOfList } = asked.query;
  const query = Object.fromEntries(Object.keys(asksOfList).map((name) => [name, textIn(asked.query, name)]));
  const planned = campaignStart(view, tools, { campaign: file, list });
  return {
    ...headOf(file),
    within: { href: pathWith(own, query), text: 'Match its columns' },
    path: `${own}/start`,
    query,
    about: html`<p>Its contacts are those of <bdi>${list.name}</bdi>, and not of the campaign’s own files.</p>`,
    ...planned,
    start: async (plan, fields) => {
      const started = await planned.start(plan, fields);
      if (started.kind === 'planned') await lists.drop(id);
      return started;
    },
  };
}

function headOf(file: string) {
  return { title: `Send ${file} to another list`, within: { href: campaignPath(file), text: file } };
}

/**
 * The list in the path, as its person wants it to be read.
 *
 * @throws ProblemError when it is not kept, or the campaign is of another account
 */
async function openList(view: View, { params, query }: Asked, tools: Tools, lists: KeptFiles) {
  const { file } = await requireCampaign(view, tools, params['file'] ?? '');
  const kept =
    lists.find(view.session.owner, params['list'] ?? '') ??
    notFound('This list is not kept any more: it was started, replaced, or an hour is over.');
  const list = { name: kept.name, path: kept.path, columns: readColumns(query), reading: readReading(query) };
  return { file, id: kept.id, list, own: campaignPath(file, `list/${kept.id}`) };
}

function bringPage(view: View, file: string, problem?: string) {
  return {
    ...headOf(file),
    body: html`<p>One run goes to the list that you bring, instead of to the contact files of the campaign. The campaign stays as it is.</p>
<form method="post" action="${campaignPath(file, 'list')}" enctype="multipart/form-data">
${csrfField(view)}
${fileField('list', 'The list', 'with a header line', problem)}
<p class="buttons"><button>Match its columns</button> <a href="${campaignPath(file)}">Go back</a></p>
</form>
<p class="hint">Only you can use the list, for an hour, until you start the run or bring another. The run keeps it in the ledger, as it keeps every contact file.</p>`,
  };
}

function readReading(query: Fields): ListReading {
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

function readColumns(query: Fields): ColumnNames {
  const names = Object.keys(query).filter((field) => field.startsWith(prefix) && textIn(query, field) !== '');
  return Object.fromEntries(
    names.map((field) => [fromCode(field.slice(prefix.length)), fromCode(textIn(query, field))]),
  );
}

/** What the campaign needs, each with the column of the list, or why there is no match. @param next where it leads */
function matchForm(match: ListMatch | InputError, query: Fields, next: string): Html {
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
