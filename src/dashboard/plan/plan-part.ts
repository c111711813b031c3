import { costliestLines, type KnownCost } from '../../campaign/cost.ts';
import { formatLate } from '../../engine/plan/forecast.ts';
import type { PlanFigures } from '../../engine/plan/planned-facts.ts';
import type { WindowOfRun } from '../../ledger/planning/planned-totals.ts';
import { count } from '../../platform/sentence.ts';
import { toInstant } from '../../platform/zoned-times.ts';
import { type Columns, integerColumn, textColumn, timeColumn } from '../../report/column.ts';
import { time } from '../../report/html/cells.ts';
import { groupThousands, share } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { showText } from '../../report/html/preview-text.ts';
import { costColumns } from '../../report/lists/plan-costs.ts';
import { rejectionColumns } from '../../report/lists/rejected.ts';
import { plannedVariantColumns } from '../../report/lists/variants.ts';
import { partCauseLines } from '../../report/part-causes.ts';
import { rateText } from '../../report/wait-words.ts';
import type { FormFields } from '../base/actions.ts';
import { refuse } from '../base/problems.ts';
import type { Viewer } from '../base/view.ts';
import { textField } from '../parts/form-fields.ts';
import { listTable, pager } from '../parts/list.ts';
import { type Figure, figures, nothingToSend } from '../parts/parts.ts';
import { pathWith } from '../paths.ts';

type PlanMessages = {
  readonly by: 'row' | 'request';
  readonly word: 'Row' | 'Recipient' | 'Request';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly chosen: number;
  readonly last: number;
  readonly perPage: number;
  /** `about` stands beside its number. */
  readonly shown: readonly { readonly number: number; readonly about: Html; readonly body: Html }[];
  /** Messages that differ from others, with why. */
  readonly others?: Html | undefined;
  /** Why the chosen message is not shown. */
  readonly missing: string;
};

const costsShown = 20;

/**
 * What would be sent, for the person who starts or approves it: figures, messages, cost, times, and what is left out.
 *
 * @param leftOut the contacts behind the numbers of those that are left out
 */
export function planPart(found: PlanFigures, messages: PlanMessages, leftOut: Html, viewer: Viewer): Html {
  const { cost, rejections, windows } = found;
  return html`${figures(countsOf(found))}
${partsPart(found)}
${forecastPart(found, viewer)}
${found.variants && listTable({ caption: 'Variants', columns: plannedVariantColumns(cost.kind === 'known' ? cost.currency : undefined), rows: found.variants }, viewer)}
${messagesPart(messages)}
${cost.kind === 'known' && cost.lines.length > 1 && costTable(cost, viewer)}
${rejections.length > 0 && html`${listTable({ caption: 'Contacts that are left out', columns: rejectionColumns, rows: rejections }, viewer)}${leftOut}`}
${windows.length > 0 && listTable({ caption: 'When it may be sent', columns: windowColumns, rows: windows }, viewer)}`;
}

function countsOf(found: PlanFigures): Figure[] {
  const { account, channel, contactsRead, recipients, requests, smsParts, cost, budget } = found;
  const known = cost.kind === 'known' ? cost : undefined;
  return [
    {
      name: 'Recipients',
      value: groupThousands(recipients),
      note: `of ${count(contactsRead, 'contact')} read`,
    },
    { name: 'Requests', value: groupThousands(requests) },
    { name: 'Account', value: account },
    { name: 'Channel', value: channel, note: smsParts !== null && count(smsParts, 'part') },
    {
      name: 'Estimated cost',
      value: known ? `${groupThousands(known.total)} ${known.currency}` : 'not known',
      note: known
        ? known.tax !== null && `and tax of ${groupThousands(known.tax)}`
        : cost.kind === 'unknown' && cost.why,
    },
    {
      name: 'Budget',
      value: budget === null ? 'none' : `${groupThousands(budget)} ${known?.currency ?? ''}`,
      note:
        budget !== null &&
        `of the campaign${known ? `; the plan takes ${share(Number(known.total), Number(budget))}` : ''}`,
    },
  ];
}

function partsPart({ partCauses, smsParts }: PlanFigures): Html | undefined {
  const [sum, ...causes] = partCauses && smsParts !== null ? partCauseLines(partCauses, smsParts) : [];
  if (sum === undefined) return undefined;
  return html`<details id="parts"><summary>${sum}</summary><ul>${causes.map((line) => html`<li dir="auto">${showText(line)}</li>`)}</ul></details>`;
}

/** When it would end at the rate of now, and the recipients who would be late. */
function forecastPart({ forecast, requests }: PlanFigures, { zone }: Viewer): Html | undefined {
  if (!forecast || requests === 0) return undefined;
  const { endsAt, limits, deadline } = forecast;
  const rate = rateText(limits);
  const ends = endsAt === null ? undefined : html`${time(new Date(endsAt), zone)} (${zone})`;
  return html`<p>${ends ? html`Started now, it would end at ${ends}${rate === '' ? ' or soon after: the account has no rate limit' : `, at ${rate}`}.` : 'The account has no rate limit, so it ends as soon as the service has answered all requests.'}</p>
${deadline && deadline.late > 0 && html`<p class="banner">${showText(formatLate(deadline, endsAt, zone))}</p>`}
${deadline && deadline.late === 0 && html`<p>No recipient would be late for the deadline, ${time(toInstant(deadline.at, deadline.timeZone), zone)} (${zone}).</p>`}`;
}

function costTable(cost: KnownCost, viewer: Viewer): Html {
  const shown = costliestLines(cost, costsShown);
  const caption =
    cost.lines.length > shown.length
      ? `Who would pay: the ${shown.length} of ${groupThousands(cost.lines.length)} that pay most`
      : 'Who would pay';
  const table = listTable({ caption, columns: costColumns(cost), rows: shown }, viewer);
  return html`<details id="payers"><summary>${caption}</summary>${table}</details>`;
}

const windowColumns: Columns<WindowOfRun> = [
  textColumn('zones', 'Time zones', ({ zones }) => zones.join(', ')),
  timeColumn('opensAt', 'Opens', { shown: ({ opensAt }) => opensAt ?? 'open now' }),
  timeColumn('closesAt', 'Closes'),
  timeColumn('sendAt', 'The service sends'),
  integerColumn('requests', 'Requests'),
];

function messagesPart({ by, word, path, query, shown, others, missing, ...page }: PlanMessages): Html {
  const { chosen, last, perPage } = page;
  const at = (number: number): string => `${pathWith(path, { ...query, [by]: String(number) })}#messages`;
  return html`<section aria-labelledby="messages-title" id="messages">
<h2 id="messages-title">Messages, as their readers get them</h2>
${
  last === 0
    ? html`<p class="empty">It has no message: ${nothingToSend}.</p>`
    : html`<form class="filter" method="get" action="${path}#messages">
${Object.entries(query).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${textField({ name: by, label: `${word} (1 to ${groupThousands(last)})`, value: String(chosen), attributes: html`inputmode="numeric"` })}
<button>Show</button>
</form>`
}
${others}
${last > 0 && shown.length === 0 && html`<p class="empty">${missing}</p>`}
${shown.map(
  ({ number, about, body }) =>
    html`<article class="planned" aria-label="${word} ${number}"><h3>${word} ${groupThousands(number)}${about}</h3>${body}</article>`,
)}
${pager({
  previous: chosen > 1 ? { href: at(Math.max(1, chosen - perPage)), text: 'Earlier ones' } : undefined,
  next: chosen + perPage <= last ? { href: at(chosen + perPage), text: 'Later ones' } : undefined,
})}
</section>`;
}

type Counted = Pick<PlanFigures, 'recipients' | 'confirmAboveRecipients'>;

const isSmall = ({ recipients, confirmAboveRecipients }: Counted): boolean =>
  recipients <= confirmAboveRecipients;

/** The field for the number of recipients; undefined if it need not be typed. */
export function typedNumberField(counted: Counted, fields: FormFields): Html | undefined {
  if (isSmall(counted)) return undefined;
  return textField({
    name: 'recipients',
    label: 'Number of recipients',
    value: fields['recipients'],
    hint: `Type it: above ${count(counted.confirmAboveRecipients, 'recipient')}, it must be confirmed.`,
    attributes: html`required inputmode="numeric" autocomplete="off"`,
  });
}

/** @throws InputError when the number must be typed, and another one or none was */
export function requireTypedNumber(counted: Counted, fields: FormFields): void {
  const { recipients } = counted;
  const typed = (fields['recipients'] ?? '').replace(/[\s,.'’]/g, '');
  if (isSmall(counted) || typed === String(recipients)) return;
  refuse('recipients', `Type the number of recipients: ${groupThousands(recipients)}.`);
}
