import { z } from 'zod';
import { asSentence } from '../../platform/sentence.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Question } from '../../report/questions.ts';
import { type Fields, textIn } from '../base/fields.ts';
import type { PageLink } from '../base/layout.ts';
import { pathWith } from '../paths.ts';
import { choiceField, textField } from './form-fields.ts';

/** The question that a list answers, and the form that asks it. */
export type Filter<Schema extends z.ZodObject = z.ZodObject> = Question<Schema> & {
  readonly path: string;
  /** What the form does, such as `Find runs`. */
  readonly title: string;
  /** The field that says where a page of the list begins. It is in no form. */
  readonly cursor: 'before' | 'after';
};

type Asked = Readonly<Record<string, string | undefined>>;

/**
 * What is asked, without what cannot be asked: a kept address goes on showing the list. `problems` says in sentences what
 * cannot be asked, by the name of its field.
 */
export function readAsked<Schema extends z.ZodObject>({ schema }: Filter<Schema>, given: Fields) {
  const valid: Record<string, string> = {};
  const problems: Record<string, string> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const text = textIn(given, name);
    const [issue] = text === '' ? [] : (z.safeParse(field, text).error?.issues ?? []);
    if (issue) problems[name] = asSentence(issue.message);
    else if (text !== '') valid[name] = text;
  }
  return { asked: schema.parse(valid), problems };
}

/** Whether anything but a cursor is asked. */
export function isAsked({ cursor }: Filter, asked: object): boolean {
  return Object.keys(asked).some((name) => name !== cursor);
}

export function firstPage({ path, cursor }: Filter, asked: Asked, text: string): PageLink | undefined {
  return asked[cursor] === undefined ? undefined : { href: pathWith(path, { ...asked, [cursor]: '' }), text };
}

/** @param offered values of fields, which a person can also write */
export function filterForm(
  filter: Filter,
  given: Fields,
  offered: Readonly<Record<string, readonly string[]>> = {},
): Html {
  const { path, title, schema, cursor } = filter;
  const { asked, problems } = readAsked(filter, given);
  const isAnythingAsked = isAsked(filter, asked);
  const fields = Object.keys(schema.shape)
    .filter((name) => name !== cursor)
    .map((name) => formField(filter, name, { value: textIn(given, name), problem: problems[name], offered }));
  return html`<details class="fold"${isAnythingAsked && html` open`}><summary>${title}</summary></details>
<form class="filter list" method="get" action="${path}" role="search" aria-label="${title}">
${fields}
<p class="find"><button>Find</button>
${isAnythingAsked && html`<a href="${path}">Show all</a>`}</p>
</form>`;
}

type Written = {
  readonly value: string;
  readonly problem: string | undefined;
  readonly offered: Readonly<Record<string, readonly string[]>>;
};

/** A field without a label is asked by links of other pages, and is kept. */
function formField({ schema, labels, days = [] }: Filter, name: string, written: Written): Html | false {
  const { value, problem } = written;
  const [id, label, offered] = [`filter-${name}`, labels[name], written.offered[name]];
  if (label === undefined) return value !== '' && html`<input type="hidden" name="${name}" value="${value}">`;
  if (days.includes(name)) {
    return textField({ name, id, label, value, problem, attributes: html`type="date"` });
  }
  const values = choicesOf(schema, name);
  if (values) return choiceField({ name, id, label, values, chosen: value, none: 'all' });
  const list = offered && html` list="${id}-values"`;
  const attributes = html`autocomplete="off" dir="auto"${list}`;
  return html`${textField({ name, id, label, value, problem, attributes })}
${offered && html`<datalist id="${id}-values">${offered.map((each) => html`<option value="${each}">`)}</datalist>`}`;
}

/** The words of a closed list; undefined for a text. */
function choicesOf({ shape }: z.ZodObject, name: string): readonly string[] | undefined {
  const field = shape[name];
  const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
  return inner instanceof z.ZodEnum ? inner.options.map(String) : undefined;
}
