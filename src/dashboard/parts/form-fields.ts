import { type Html, html } from '../../report/html/html.ts';

type Field = {
  readonly name: string;
  /** Its name, where the page has no other element of this id. */
  readonly id?: string;
  readonly label: string;
};

type TextField = Field & {
  readonly value: string | undefined;
  /** Empty: none. */
  readonly hint?: string;
  readonly problem?: string | undefined;
  /** More attributes of the input. */
  readonly attributes?: Html;
};

/** A line of text, with its hint and with what is wrong with it. */
export function textField({ name, id = name, label, value, hint, problem, attributes }: TextField): Html {
  const described = [hint && `${id}-hint`, problem && `${id}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${id}">${label}</label>
${hint && html`<span class="hint" id="${id}-hint">${hint}</span>`}
${problem && html`<span class="error" id="${id}-error">${problem}</span>`}
<input id="${id}" name="${name}" value="${value}"${attributes && html` ${attributes}`}${described && html` aria-describedby="${described}"`}${problem && html` aria-invalid="true"`}>
</div>`;
}

type LinesField = Field & Pick<TextField, 'hint' | 'problem'> & { readonly values: readonly string[] };

/** Values of which each stands on a line. */
export function linesField({ name, id = name, label, values, hint, problem }: LinesField): Html {
  const described = [hint && `${id}-hint`, problem && `${id}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${id}">${label}</label>
${hint && html`<span class="hint" id="${id}-hint">${hint}</span>`}
${problem && html`<span class="error" id="${id}-error">${problem}</span>`}
<textarea id="${id}" name="${name}" rows="3"${described && html` aria-describedby="${described}"`}${problem && html` aria-invalid="true"`}>${values.map(
    (value) => html`${value}
`,
  )}</textarea>
</div>`;
}

type ChoiceField = Field & {
  readonly values: readonly string[];
  readonly chosen: string | undefined;
  /** Words for no value; undefined: one must be chosen. */
  readonly none?: string | undefined;
};

/** One of a list of values. */
export function choiceField({ name, id = name, label, values, chosen, none }: ChoiceField): Html {
  const options = values.map(
    (value) => html`<option value="${value}"${value === chosen && html` selected`}>${value}</option>`,
  );
  return html`<div class="field">
<label for="${id}">${label}</label>
<select id="${id}" name="${name}">${none !== undefined && html`<option value="">${none}</option>`}${options}</select>
</div>`;
}

/** The zone in which a period begins and ends. */
export function zoneField(value: string, problem?: string): Html {
  return textField({
    name: 'timeZone',
    label: 'Time zone',
    value,
    hint: 'such as Pacific/Auckland',
    problem,
  });
}
