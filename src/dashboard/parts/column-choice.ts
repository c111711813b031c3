import type { Column, Columns } from '../../report/column.ts';
import { usualColumns } from '../../report/column-choice.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { PageContent } from '../base/layout.ts';
import type { View } from '../base/view.ts';
import { keptFields } from './form-fields.ts';

type Choice<Row> = {
  readonly columns: Columns<Row>;
  /** The form that chooses others. */
  readonly form: Html;
  /** What the browser keeps for the next time, if the address names columns. */
  readonly cookie: PageContent['cookie'];
};

/**
 * The columns of a list for a person: those that the address names, those chosen before in this browser, or the usual
 * ones.
 *
 * @param list its name
 * @param isFixed whether a person cannot leave out the column
 */
export function chooseColumns<Row>(
  list: string,
  columns: Columns<Row>,
  isFixed: (column: Column<Row>) => boolean,
  { cookies, address }: Pick<View, 'cookies' | 'address'>,
): Choice<Row> {
  const name = `volley_columns_${list}`;
  const query = new URLSearchParams(address.replace(/^[^?]*/, ''));
  const asked = query.getAll('columns').filter((key) => columns.some((column) => column.key === key));
  const wanted = asked.length > 0 ? asked : (cookies[name] ?? '').split('.');
  const filled = columns.filter(({ blank }) => !blank);
  const chosen = filled.filter((column) => isFixed(column) || wanted.includes(column.key));
  const shown = chosen.every(isFixed) ? usualColumns(filled) : chosen;
  const boxes = filled.map((column) => {
    const isShown = shown.includes(column);
    return html`<label><input type="checkbox" name="columns" value="${column.key}"${isShown && html` checked`}${isFixed(column) && html` disabled`}> ${column.title}</label> `;
  });
  return {
    columns: shown,
    cookie: asked.length > 0 ? { name, value: asked.join('.') } : undefined,
    form: html`<details><summary>Columns: ${shown.length} of ${filled.length}</summary>
<form method="get">${keptFields(address, ['columns'])}<fieldset><legend>Columns of the table</legend>${boxes}</fieldset>
<p class="buttons"><button>Show these columns</button></p></form></details>`,
  };
}
