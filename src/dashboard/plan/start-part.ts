import type { InputError } from '../../domain/problems.ts';
import { formatReason } from '../../domain/reasons.ts';
import type { Start } from '../../engine/access/start-by-key.ts';
import type { StartPlan } from '../../engine/plan/start-plan.ts';
import { count } from '../../platform/sentence.ts';
import { time } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { rowContent } from '../../report/html/preview-message.ts';
import { showText } from '../../report/html/preview-text.ts';
import { rejectedColumns } from '../../report/lists/rejected.ts';
import { plainScreen } from '../../report/screen.ts';
import { localizeTimes } from '../../report/time.ts';
import { type FormFields, questionPage } from '../base/actions.ts';
import { numberIn } from '../base/fields.ts';
import { messagePolicy } from '../base/guards.ts';
import { csrfField, type PageContent, type PageLink } from '../base/layout.ts';
import { omitCommands, problemItems, problemList } from '../base/problems.ts';
import type { Asked, View, Viewer } from '../base/view.ts';
import { textField } from '../parts/form-fields.ts';
import { listTable } from '../parts/list.ts';
import { progressBar } from '../parts/parts.ts';
import { pathWith } from '../paths.ts';
import type { MakePlan, PlanState } from './kept-plans.ts';
import { planPart, typedNumberField } from './plan-part.ts';

/** A start that a person decides about on the page of its plan. */
export type PlannedStart = {
  readonly title: string;
  readonly within: PageLink;
  /** The page, and what its address asks besides a row. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names the plan among those of the person. */
  readonly key: string;
  readonly make: MakePlan;
  readonly about?: Html;
  readonly button: string;
  /** Starts exactly the plan, once for its id. @throws InputError if it would send something else now */
  readonly start: (plan: StartPlan, fields: FormFields) => Promise<Start>;
  /** Sends a row to an address of the person, once for the key. */
  readonly test?: (test: StartedTest) => Promise<Start>;
};

type StartedTest = { readonly key: string; readonly row: number; readonly address: string };

export function rowIn({ query }: Asked): number | undefined {
  return numberIn(query, 'row') || undefined;
}

/** Seconds between two looks of a browser without scripts. */
const refresh = 2;

type Shown = {
  readonly view: View;
  readonly asked: Asked;
  readonly needsReason: boolean;
  readonly fields?: FormFields;
  readonly error?: InputError;
};

export function startContent(start: PlannedStart, state: PlanState, shown: Shown): PageContent {
  const { title, within, about } = start;
  switch (state.kind) {
    case 'planning':
      return { title, within, body: about ?? html``, refresh };
    case 'refused':
      return refusedPage(start, `${title}: not possible now`, problemItems(state.problems));
    case 'planned':
      return plannedPage(start, state.plan, shown);
  }
}

/** Why nothing was started, where the plan is not kept any more. */
export function notStarted(start: PlannedStart, { problems }: InputError): PageContent {
  const said = problems.map(
    ({ where, what }) => html`<code dir="auto">${where}</code>: ${omitCommands(what)}`,
  );
  return refusedPage(start, start.title, problemList('It was not started', said));
}

function refusedPage({ within, path, query }: PlannedStart, title: string, why: Html): PageContent {
  const again = html`<p><a class="button" href="${pathWith(path, query)}">Plan it anew</a></p>`;
  return { title, within, body: html`${why}${again}` };
}

export function progressPart({ progress }: Extract<PlanState, { kind: 'planning' }>): Html {
  const { contacts = 0, bytesRead = 0, bytes } = progress ?? {};
  const isRead = bytes !== undefined && bytesRead >= bytes;
  return html`<p role="status">${isRead ? 'Deciding what is sent' : 'Reading the contacts'}: ${count(contacts, 'row')} read. Nothing is sent.</p>
${bytes !== undefined && progressBar('Contact files that are read', bytesRead, bytes)}`;
}

function plannedPage(
  start: PlannedStart,
  plan: StartPlan,
  { view, asked, needsReason, fields = {}, error }: Shown,
): PageContent {
  const { title, within, path, query, about, button, test } = start;
  const { figures, proof, madeAt, repeats, approval, notes } = plan;
  const word = test ? 'Row' : 'Recipient';
  const chosen = Math.min(rowIn(asked) ?? plan.rows[0]?.row ?? 1, Math.max(1, plan.rowCount));
  const shown = plan.rows.filter(({ row }) => row === chosen);
  const messages = {
    by: 'row',
    word,
    path,
    query,
    chosen,
    last: plan.rowCount,
    perPage: 1,
    others: rowLinks(plan, chosen, (row) => `${pathWith(path, { ...query, row: String(row) })}#messages`),
    shown: shown.map((row) => ({
      number: row.row,
      about: html` <small dir="auto">line ${row.line} of ${row.file}</small>`,
      body: rowContent(row),
    })),
    missing: 'There is no such row.',
  } as const;
  const action = (page = ''): string => pathWith(`${path}${page}`, query);
  return questionPage(
    view,
    {
      title,
      within,
      policy: messagePolicy,
      action: action(),
      above: html`<form class="in-a-line" method="post" action="${action('/anew')}">${csrfField(view)}<span>Planned at ${time(madeAt, view.zone)} (${view.zone}).</span> <button class="plain">Plan it anew</button> <a href="#start">To the start</a></form>
${about}
${repeats !== null && html`<p class="banner"><strong>These contacts had a run before.</strong> ${showText(omitCommands(localizeTimes({ ...plainScreen, zone: view.zone }, repeats)))} If you start this run, all of them get the message again.</p>`}
${approval !== null && html`<p class="banner">The campaign asks for <strong>approval</strong>: the run waits for another person before anything is sent: ${formatReason(approval)}.</p>`}
${notes.length > 0 && html`<ul>${notes.map((note) => html`<li dir="auto">${showText(omitCommands(note))}</li>`)}</ul>`}
${planPart(figures, messages, leftOutPart(plan, view), view)}
${test && figures.recipients > 0 && testForm(view, action('/test'), chosen, fields)}`,
      body: html`<h2 id="start">Start it</h2>
<input type="hidden" name="plan" value="${proof.id}">
${typedNumberField(figures, fields)}
<p>It sends to <strong>${count(figures.recipients, 'recipient')}</strong> in ${count(figures.requests, 'request')}: exactly this plan, or nothing.</p>`,
      button,
    },
    {
      needsReason,
      fields,
      error,
    },
  );
}

function rowLinks({ rows }: StartPlan, chosen: number, at: (row: number) => string): Html | undefined {
  const differing = rows.filter(({ why }) => why.length > 0);
  if (differing.length < 2) return undefined;
  const links = differing.map(
    ({ row, why }) =>
      html`<li><a href="${at(row)}"${row === chosen && html` aria-current="true"`}>Row ${groupThousands(row)}</a> <small dir="auto">${why.join(', ')}</small></li>`,
  );
  return html`<ul class="in-a-line" aria-label="Rows that differ">${links}</ul>`;
}

function leftOutPart({ figures, leftOut }: StartPlan, viewer: Viewer): Html {
  const columns = rejectedColumns(leftOut);
  const parts = figures.rejections.map(({ reason, column, contacts }, index) => {
    const rows = leftOut.filter((each) => each.reason === reason && each.column === column);
    const more = contacts > rows.length ? `, the first ${rows.length} of ${groupThousands(contacts)}` : '';
    return html`<details id="left-out-${index}"><summary>${reason}, column ${column}${more}</summary>
${listTable({ caption: `Left out: ${reason}, column ${column}`, columns, rows }, viewer)}</details>`;
  });
  return html`${parts}`;
}

/** Its form has a key, so that it sends one message, however often it is sent. */
function testForm(view: View, action: string, row: number, fields: FormFields): Html {
  return html`<section aria-labelledby="test-title" id="test">
<h2 id="test-title">Test first: send a row to me</h2>
<form class="filter" method="post" action="${action}">
${csrfField(view)}<input type="hidden" name="key" value="${fields['key'] ?? view.context.randomUuid()}">
${textField({ name: 'row', id: 'test-row', label: 'Row', value: String(row), attributes: html`required inputmode="numeric"` })}
${textField({ name: 'address', label: 'My address', value: fields['address'] ?? '', attributes: html`required autocomplete="off" dir="auto"` })}
<button>Send the row to me</button>
</form>
<p class="hint">Nothing reaches the address of the row. The message does not say that it is a test.</p>
</section>`;
}
