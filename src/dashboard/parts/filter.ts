import { InputError } from '../../domain/problems.ts';
import { toInstant } from '../../platform/zoned-times.ts';
import { type Html, html } from '../../report/html/html.ts';
import { dayAfter, dayIn } from '../base/days.ts';
import { type Fields, textIn } from '../base/fields.ts';
import { pathWith } from '../paths.ts';
import { choiceField, textField } from './form-fields.ts';

/** What a person can ask of a list. Links of other pages ask a hidden field. */
type FilterField = {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'day' | 'choice' | 'hidden';
  /** Of a choice, where the page does not name them. */
  readonly values?: readonly string[];
};

/** The question that a list answers. */
export type Filter = {
  /** Of the list. */
  readonly path: string;
  /** What the form does, such as `Find runs`. */
  readonly title: string;
  readonly fields: readonly FilterField[];
  /** The name of where a page of the list begins. */
  readonly place: string;
};

/** What was asked, by the names of fields; nothing for an empty one. */
export type Asked = Readonly<Record<string, string>>;

/** Characters. */
const longest = 300;

export function readAsked({ fields, place }: Filter, given: Fields): Asked {
  const found = [...fields, { name: place, values: undefined }].flatMap(({ name, values }) => {
    const text = textIn(given, name).slice(0, longest).replaceAll('\u0000', '').toWellFormed().trim();
    return text === '' || (values && !values.includes(text)) ? [] : [[name, text] as const];
  });
  return Object.fromEntries(found);
}

/** Whether anything but a place is asked. */
export function isAsked({ place }: Filter, asked: Asked): boolean {
  return Object.keys(asked).some((name) => name !== place);
}

/** The first page of the list, where this is a later one. */
export function firstPage({ path, place }: Filter, asked: Asked, text: string) {
  return asked[place] === undefined ? undefined : { href: pathWith(path, { ...asked, [place]: '' }), text };
}

/** For the head of a download. */
export function describeAsked({ place }: Filter, asked: Asked): readonly string[] {
  return Object.entries(asked).flatMap(([name, value]) => (name === place ? [] : [`${name}: ${value}`]));
}

/** @param offered values of fields, which a person can also write where it is a text */
export function filterForm(
  filter: Filter,
  asked: Asked,
  offered: Readonly<Record<string, readonly string[]>> = {},
): Html {
  const { path, title, fields } = filter;
  return html`<form class="filter list" method="get" action="${path}" role="search" aria-label="${title}">
${fields.map((field) => formField(field, asked[field.name] ?? '', offered[field.name]))}
<p class="find"><button>Find</button>
${isAsked(filter, asked) && html`<a href="${path}">Show all</a>`}</p>
</form>`;
}

function formField(
  { name, label, kind, values = [] }: FilterField,
  value: string,
  offered: readonly string[] | undefined,
): Html | false {
  const id = `filter-${name}`;
  switch (kind) {
    case 'choice':
      return choiceField({ name, id, label, values: offered ?? values, chosen: value, none: 'all' });
    case 'day':
      return textField({ name, id, label, value, attributes: html`type="date"` });
    case 'hidden':
      return value !== '' && html`<input type="hidden" name="${name}" value="${value}">`;
    case 'text': {
      const list = offered && html` list="${id}-values"`;
      const attributes = html`autocomplete="off" dir="auto"${list}`;
      return html`${textField({ name, id, label, value, attributes })}
${offered && html`<datalist id="${id}-values">${offered.map((each) => html`<option value="${each}">`)}</datalist>`}`;
    }
  }
}

/**
 * From the start of the first day until before the end of the last.
 *
 * @throws InputError for a date that is none
 */
export function periodOf(
  asked: Asked,
  [first, last]: readonly [first: string, last: string],
  zone: string,
): { readonly from: Date | undefined; readonly before: Date | undefined } {
  const startOf = (name: string, next: (day: string) => string): Date | undefined => {
    const written = asked[name];
    if (written === undefined) return undefined;
    if (dayIn(written) === '')
      throw new InputError([{ where: name, what: 'Expected a date such as 2026-11-21.' }]);
    return toInstant(`${next(written)}T00:00`, zone);
  };
  return { from: startOf(first, (day) => day), before: startOf(last, dayAfter) };
}
